// SPDX-License-Identifier: Apache-2.0
// Declares globals and finds the shape of each (number of keys, aggregate or not) from its uses.
#include "compiler/check/globals.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/forms.h"
#include "runtime/shared/abi.h"

namespace dj {
namespace {

constexpr int64_t kMaxCapacity = int64_t{1} << 26;

// What the uses say about one global.
void find_shape(const std::vector<NameUse>& uses, Global& global, GlobalFacts& facts) {
  std::optional<Span> stat_add, stat_read;
  for (const NameUse& use : uses) {
    if (use.keys > 0 && !facts.indexed) {
      facts.indexed = use.span;
      size_t keys =
          std::min<size_t>(use.keys, abi::kMaxKeys);  // more is reported where it is bound
      global.keys.assign(keys, Type::Unknown);
    }
    if (use.use == Use::StatAdd) {
      if (!stat_add) stat_add = use.span;
    } else if (use.use == Use::StatRead) {
      if (!stat_read) stat_read = use.span;
    } else if (is_write(use.use) && !facts.number) {
      facts.number = use.span;
    }
  }
  facts.aggregate = stat_add;
  // An aggregate that is only asked, never fed: it is one all the same, an empty one.
  if (!facts.aggregate && !facts.number) facts.aggregate = stat_read;
  global.value = facts.aggregate ? Type::Stat : Type::Unknown;
}

void read_init(const ast::GlobalDecl& decl, Global& global) {
  if (!decl.init) return;
  if (const ast::String* text = std::get_if<ast::String>(&decl.init->node)) {
    global.init = until_nul(text->value);
    global.value = Type::Str;
    return;
  }
  if (const ast::Fraction* fraction = std::get_if<ast::Fraction>(&decl.init->node)) {
    global.init = fraction->value;
    global.value = Type::Int;  // a number, until it is known which numbers are doubles
    return;
  }
  int64_t sign = 1;
  const ast::Expr* e = decl.init.get();
  if (const ast::Unary* unary = std::get_if<ast::Unary>(&e->node)) {
    if (unary->op == ast::UnOp::Neg) sign = -1;
    e = unary->operand.get();
  }
  if (const ast::Number* number = std::get_if<ast::Number>(&e->node)) {
    global.init =
        static_cast<int64_t>(static_cast<uint64_t>(number->value) * static_cast<uint64_t>(sign));
    global.value = Type::Int;
  }
}

void check_declaration(const ast::GlobalDecl& decl, Global& global, GlobalFacts& facts,
                       Diags& diags) {
  global.array.wrap = decl.wrap && facts.indexed;
  // One of a tapset may have no use, where those of the functions that a script calls have none.
  const bool is_plain = facts.number || facts.aggregate || decl.init;
  if (decl.wrap && !facts.indexed && is_plain) {
    diags.error("DJ2024", decl.span,
                fmt::format("`{}%` wraps but is not used as an array", decl.name));
    facts.reported = true;
    return;
  }
  if (decl.init && (facts.indexed || facts.aggregate)) {
    bool array = facts.indexed.has_value();
    Diag& diag = diags.error(
        "DJ2023", decl.init->span,
        fmt::format("only numbers and strings can have an initial value, but `{}` is an {}",
                    decl.name, array ? "array" : "aggregate"));
    diag.labels.push_back({array ? *facts.indexed : *facts.aggregate,
                           array ? "first indexed here" : "made an aggregate here"});
    return;
  }
  if (decl.capacity && (*decl.capacity < 1 || *decl.capacity > kMaxCapacity)) {
    Diag& diag =
        diags.error("DJ2024", decl.span,
                    fmt::format("the size of `{}` is {}, but it must be at least 1 and at most {}",
                                decl.name, *decl.capacity, kMaxCapacity));
    diag.help = fmt::format("`global {}` without a size takes the default", decl.name);
    return;
  }
  global.array.capacity = decl.capacity.value_or(0);
  if (decl.capacity && !facts.indexed && is_plain) {
    Diag& diag = diags.error("DJ2024", decl.span,
                             fmt::format("`{}` has a size but is not used as an array", decl.name));
    if (facts.number) diag.labels.push_back({*facts.number, "used as a plain variable here"});
    facts.reported = true;
  }
}

void add_global(Global global, GlobalFacts facts, Program& program, Notes& notes) {
  notes.globals.emplace(global.name, static_cast<GlobalId>(program.globals.size()));
  program.globals.push_back(std::move(global));
  notes.facts.globals.push_back(facts);
}

}  // namespace

bool is_auto_global(const std::vector<NameUse>& uses, const std::vector<Body>& units) {
  struct Seen {
    bool updates = false, reads = false;
  };
  std::vector<Seen> seen(units.size());
  bool indexed_write = false, fed = false, updated_in_probe = false;
  for (const NameUse& use : uses) {
    if (use.keys == 0 && (use.use == Use::Set || use.use == Use::Bind)) return false;
    if (use.keys > 0 && is_write(use.use)) indexed_write = true;
    if (use.use == Use::StatAdd) fed = true;
    Seen& unit = seen[use.unit];
    unit.reads |= is_read(use.use);
    unit.updates |= use.use == Use::Update || use.use == Use::UpdateRead;
    updated_in_probe |= use.use == Use::Update && !units[use.unit].is_function;
  }
  if (indexed_write || fed) return true;
  bool mixed = std::any_of(seen.begin(), seen.end(), [](Seen s) { return s.updates && s.reads; });
  return updated_in_probe && !mixed;
}

void declare_globals(const ast::Script& script, const Uses& uses, const CheckOptions& options,
                     Program& program, Notes& notes, Diags& diags) {
  static const std::vector<NameUse> kNone;
  for (const ast::GlobalDecl& decl : script.globals) {
    auto known = notes.globals.find(decl.name);
    if (known != notes.globals.end()) {
      Diag& diag = diags.error("DJ2002", decl.span,
                               fmt::format("the global `{}` is declared twice", decl.name));
      diag.labels.push_back({program.globals[known->second].span, "first declared here"});
      continue;
    }
    Global global{.name = decl.name, .span = decl.span};
    GlobalFacts facts;
    auto used = uses.names.find(decl.name);
    find_shape(used == uses.names.end() ? kNone : used->second, global, facts);
    check_declaration(decl, global, facts, diags);
    if (!facts.indexed && !facts.aggregate) read_init(decl, global);
    add_global(std::move(global), facts, program, notes);
  }
  if (options.strict) return;
  std::vector<const std::pair<const std::string, std::vector<NameUse>>*> implicit;
  for (const auto& entry : uses.names) {
    if (!notes.globals.contains(entry.first) && is_auto_global(entry.second, uses.units)) {
      implicit.push_back(&entry);
    }
  }
  // In the order of their first use: that is the order of the display at exit.
  std::sort(implicit.begin(), implicit.end(), [](const auto* a, const auto* b) {
    return a->second.front().span.begin < b->second.front().span.begin;
  });
  for (const auto* entry : implicit) {
    const auto& [name, list] = *entry;
    Global global{.name = name, .span = list.front().span, .by = Global::By::Use};
    GlobalFacts facts;
    find_shape(list, global, facts);
    add_global(std::move(global), facts, program, notes);
  }
}

}  // namespace dj
