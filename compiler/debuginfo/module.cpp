// SPDX-License-Identifier: Apache-2.0
// CodeFunction look-up by name and address over a module's symbols.
#include "compiler/debuginfo/module.h"

#include <algorithm>
#include <map>

#include "arch/x86_64/entry_place.h"
#include "arch/x86_64/text.h"
#include "compiler/debuginfo/debuginfod.h"
#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/foreign_names.h"
#include "compiler/debuginfo/nameless.h"
#include "compiler/debuginfo/zstd_sections.h"

namespace dj {

namespace {

// Which of two names for one address a person means: a function's before a label's, global before
// local, then fewer leading underscores, then the shorter.
bool better_name(const Symbol& a, const Symbol& b) {
  auto rank = [](const Symbol& s) {
    const size_t underscores = s.name.find_first_not_of('_');
    const int binding = s.binding == STB_GLOBAL ? 0 : s.binding == STB_WEAK ? 1 : 2;
    return std::tuple(s.untyped, binding, underscores, s.name.size(), s.name);
  };
  return rank(a) < rank(b);
}

}  // namespace

Result<std::unique_ptr<Module>> Module::open(const std::string& path, const std::string& name) {
  DJ_TRY(ObjectFile elf, ObjectFile::open(path, name));
  return std::unique_ptr<Module>(new Module(std::move(elf)));
}

std::string Module::base_name() const { return path().substr(path().rfind('/') + 1); }

const SymbolTable& Module::symbols() {
  if (!symbols_.table) {
    symbols_.table = std::make_unique<SymbolTable>(read_symbols(elf_));
  }
  return *symbols_.table;
}

bool Module::fetch_symbols() {
  if (symbols_.fetched || symbols().complete) return false;
  symbols_.fetched = true;
  if (!ask_for_debug_file(elf_.build_id(), path())) return false;
  symbols_.first = std::move(symbols_.table);
  symbols_.nameless_added = false;
  symbols_.parts.reset();
  forget_indexes();
  return true;
}

void Module::name_the_nameless() {
  if (symbols_.nameless_added || symbols().complete) {
    return;
  }
  symbols_.nameless_added = true;
  add_nameless(elf_, *symbols_.table);
  forget_indexes();
}

// They, and the pointers to symbols, are made again.
void Module::forget_indexes() {
  names_.starts.clear();
  names_.by_address.clear();
  names_.by_name.clear();
  names_.mangled.clear();
  names_.closures.reset();
}

const std::vector<uint64_t>& Module::starts() {
  if (names_.starts.empty()) {
    for (const Symbol& s : symbols().functions) {
      names_.starts.push_back(s.address);
    }
    std::sort(names_.starts.begin(), names_.starts.end());
    names_.starts.erase(std::unique(names_.starts.begin(), names_.starts.end()),
                        names_.starts.end());
  }
  return names_.starts;
}

const VersionedSymbol* Module::versioned(uint64_t address, std::string_view name,
                                         std::string_view text) {
  if (!exports_.versioned) exports_.versioned = versioned_symbols(elf_);
  auto at = std::lower_bound(exports_.versioned->begin(), exports_.versioned->end(), address,
                             [](const VersionedSymbol& v, uint64_t a) { return v.address < a; });
  for (; at != exports_.versioned->end() && at->address == address; ++at) {
    if (at->name == name && (text.empty() || at->is_meant_by(text))) return &*at;
  }
  return nullptr;
}

std::string Module::version_at(uint64_t begin, std::string_view symbol) {
  const VersionedSymbol* found = versioned(begin, symbol);
  return found ? (found->is_default ? "@" : "") + std::string(found->version) : "";
}

std::optional<CodeFunction> Module::function_at(uint64_t address) {
  if (names_.by_address.empty()) {
    for (const Symbol& s : symbols().functions) {
      names_.by_address.push_back(&s);
    }
    std::sort(names_.by_address.begin(), names_.by_address.end(),
              [](const Symbol* a, const Symbol* b) {
                return a->address != b->address ? a->address < b->address : better_name(*a, *b);
              });
  }
  auto next = std::upper_bound(starts().begin(), starts().end(), address);
  if (next == starts().begin()) {
    return std::nullopt;
  }
  const uint64_t begin = *std::prev(next);
  const Symbol& s = **std::lower_bound(names_.by_address.begin(), names_.by_address.end(), begin,
                                       [](const Symbol* a, uint64_t b) { return a->address < b; });
  const CodeFunction function{begin, end_of(s), s.name};
  return address < function.end ? std::optional(function) : std::nullopt;
}

bool Module::exports(uint64_t begin) {
  if (!exports_.read) {
    exports_.read = true;
    exports_.addresses = exported_functions(elf_);
  }
  return std::binary_search(exports_.addresses.begin(), exports_.addresses.end(), begin);
}

const Plt& Module::plt() {
  if (!plt_) {
    plt_ = std::make_unique<Plt>(read_plt(elf_));
  }
  return *plt_;
}

size_t Module::function_count() { return starts().size(); }

uint64_t Module::end_of(const Symbol& symbol) {
  if (symbol.size > 0) {
    return symbol.address + symbol.size;
  }
  uint64_t end = symbol.address + elf_.at(symbol.address).size();
  if (const Section* s = elf_.code_section(symbol.address)) {
    end = std::min(end, s->header.sh_addr + s->header.sh_size);
  }
  auto next = std::upper_bound(starts().begin(), starts().end(), symbol.address);
  return next == starts().end() ? end : std::min(end, *next);
}

void Module::index_names() {
  if (!names_.by_name.empty() || !names_.mangled.empty()) return;
  for (const Symbol& s : symbols().functions) {
    (is_mangled(s.name) ? names_.mangled : names_.by_name).push_back(&s);
  }
  std::sort(names_.by_name.begin(), names_.by_name.end(),
            [](const Symbol* a, const Symbol* b) { return a->name < b->name; });
}

// Asks about all functions that the matcher can mean. A few names are not worth an index.
template <class Ask>
void Module::for_likely(const NameMatcher& matcher, const Ask& ask) {
  constexpr size_t kFewNames = 50;
  if (matcher.is_wild() || matcher.is_foreign() || ++names_.asked <= kFewNames) {
    for (const Symbol& s : symbols().functions) ask(s);
    return;
  }
  index_names();
  for (const Symbol* s : names_.mangled) ask(*s);
  // Behind the name there may be a version or a suffix.
  const std::string& name = matcher.pattern();
  auto at = std::lower_bound(names_.by_name.begin(), names_.by_name.end(), name,
                             [](const Symbol* s, const std::string& n) { return s->name < n; });
  for (; at != names_.by_name.end() && (*at)->name.starts_with(name); ++at) ask(**at);
}

bool Module::means(const NameMatcher& matcher, const Symbol& symbol) {
  NameMatcher::Meaning meaning = matcher.meaning(symbol.name);
  if (!meaning.yes && matcher.pattern().find(kClosure) != std::string::npos) {
    if (!names_.closures) names_.closures.emplace(symbols().functions);
    meaning = matcher.meaning_of(split_demangled(names_.closures->name_of(symbol.name)));
  }
  if (!meaning.yes || meaning.sure()) return meaning.yes;
  if (meaning.if_in == NameMatcher::Language::Fortran && !has_foreign()) return false;
  return debug_info() && debug_info()->confirms(meaning, matcher, symbol.address);
}

Module::Found Module::find(const NameMatcher& matcher, std::string_view version) {
  if (may_mean_nameless(matcher.pattern())) {
    name_the_nameless();
  }
  Found found;
  std::vector<std::pair<uint64_t, const Symbol*>> matching;  // by address
  for_likely(matcher, [&](const Symbol& s) {
    if (s.jump || !means(matcher, s)) return;
    if (!version.empty() && !versioned(s.address, s.name, version)) return;
    if (s.ifunc) {
      found.ifuncs.emplace_back(s.name);
    } else {
      matching.emplace_back(s.address, &s);
    }
  });
  std::sort(matching.begin(), matching.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : better_name(*a.second, *b.second);
  });
  for (const auto& [address, s] : matching) {
    if (found.functions.empty() || found.functions.back().begin != address) {
      found.functions.push_back({address, end_of(*s), s->name});
    }
  }
  std::sort(found.ifuncs.begin(), found.ifuncs.end());
  found.ifuncs.erase(std::unique(found.ifuncs.begin(), found.ifuncs.end()), found.ifuncs.end());
  return found;
}

bool Module::has_foreign() {
  if (!debug_.has_foreign) {
    const bool likely = may_have_foreign(elf_, symbols().functions);
    DebugInfo* info = likely ? debug_info() : nullptr;
    debug_.has_foreign = info && info->has_foreign();
  }
  return *debug_.has_foreign;
}

std::string Module::foreign_name(std::string_view symbol, uint64_t begin) {
  return has_foreign() ? debug_info()->foreign_name(begin, symbol) : "";
}

bool Module::is_part(const CodeFunction& function) {
  if (!symbols_.parts) symbols_.parts.emplace(elf_, symbols());
  return symbols_.parts->has(function.begin, function.end, function.symbol);
}

uint64_t Module::entry_of(uint64_t begin) const { return arch::entry_place(elf_.at(begin), begin); }

bool Module::is_untraced(uint64_t begin) const {
  return arch::is_kernels(begin) && !arch::has_tracer_place(elf_.at(begin), begin);
}

void Module::forgo_other_files() {
  debug_.tried = true;
  symbols_.fetched = true;
}

DebugInfo* Module::debug_info() {
  if (!debug_.tried) {
    debug_.tried = true;
    debug_.info = DebugInfo::open(elf_);
    if (debug_.info) {
      debug_.info->set_printers(printers_);
    }
  }
  return debug_.info.get();
}

std::string Module::why_unreadable() {
  if (debug_info() != nullptr) return {};
  std::string names = zstd_sections(elf_);
  if (names.empty() && symbols().debug_file) names = zstd_sections(*symbols().debug_file);
  return names.empty()
             ? ""
             : names + ": packed with zstd, which " + elfutils_version() + " here does not read";
}

}  // namespace dj
