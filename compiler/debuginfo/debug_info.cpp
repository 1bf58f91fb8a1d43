// SPDX-License-Identifier: Apache-2.0
// DebugInfo: opens the index and answers by the files beside this one.
#include "compiler/debuginfo/debug_info.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "compiler/debuginfo/debug_names.h"
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/go_results.h"
#include "compiler/debuginfo/inlines.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/source_path.h"
#include "compiler/debuginfo/targets.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/unit_folder.h"
#include "compiler/debuginfo/variables.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {

struct DebugInfo::Impl {
  std::unique_ptr<DwarfIndex> index;
  std::unordered_map<uint64_t, std::string> names;  // name(), by its argument
};

namespace {

// Where split debug info is missing: which file, and whether there is a packed one.
TargetFailure no_debug_info(uint64_t pc, DwarfIndex& index) {
  TargetFailure f;
  f.kind = TargetFailure::NoDebugInfo;
  f.message = "no debug info covers this function";
  const std::string missing = index.missing_file(pc);
  if (missing.empty()) {
    return f;
  }
  f.notes.push_back("it was built with -gsplit-dwarf; its debug info is in " + missing +
                    ", which cannot be read");
  const std::string packed = index.elf().open_path() + ".dwp";
  f.help = "keep the .dwo files, or build without -gsplit-dwarf";
  if (::access(packed.c_str(), F_OK) == 0) {
    f.notes.push_back(packed + " does not have it, or cannot be unpacked");
    f.help = "keep the .dwo files beside the packed one, or build without -gsplit-dwarf";
  }
  return f;
}

// LineSearch: finds the rows of one file and its lines in units' line tables.
class LineSearch {
 public:
  LineSearch(DwarfIndex& index, const std::string& file, LineRange lines, uint64_t begin,
             uint64_t end, bool all_rows = false)
      : index_(index),
        file_(file),
        lines_(lines),
        begin_(begin),
        end_(end),
        bias_(index.bias()),
        all_rows_(all_rows) {}

  void add(Dwarf_Die unit) {
    folder_ = unit_folder(unit);
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (!index_.lines(unit, &lines, &count)) {
      return;
    }
    for (size_t i = 0; i < count; i++) {
      row(dwarf_onesrcline(lines, i));
    }
  }

  std::vector<LineHit> hits() {
    std::sort(hits_.begin(), hits_.end(),
              [](const LineHit& a, const LineHit& b) { return a.address < b.address; });
    return std::move(hits_);
  }

  // The closest lines with code below and above.
  std::vector<uint32_t> nearest() const {
    std::vector<uint32_t> result;
    auto above = other_lines_.upper_bound(lines_.first);
    if (above != other_lines_.begin()) {
      result.push_back(*std::prev(above));
    }
    if (above != other_lines_.end()) {
      result.push_back(*above);
    }
    return result;
  }

 private:
  void row(Dwarf_Line* row) {
    Dwarf_Addr address = 0;
    int line = 0;
    bool statement = false, end_of_sequence = false;
    if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineno(row, &line) != 0 || line <= 0) {
      return;
    }
    dwarf_linebeginstatement(row, &statement);
    dwarf_lineendsequence(row, &end_of_sequence);
    address += bias_;
    const char* source = dwarf_linesrc(row, nullptr, nullptr);
    if (!(statement || all_rows_) || end_of_sequence || !source || address < begin_ ||
        address >= end_) {
      return;
    }
    auto [known, fresh] = file_matches_.try_emplace(source, false);
    if (fresh) {
      known->second = source_path_matches(file_, source, folder_);
    }
    if (!known->second) {
      return;
    }
    if (lines_.has(uint32_t(line))) {
      hits_.push_back({address, source, uint32_t(line)});
    } else {
      other_lines_.insert(uint32_t(line));
    }
  }

  DwarfIndex& index_;
  const std::string& file_;
  const LineRange lines_;
  const uint64_t begin_, end_, bias_;
  const bool all_rows_;  // not only where a statement begins
  std::string folder_;   // of the unit
  std::vector<LineHit> hits_;
  std::set<uint32_t> other_lines_;
  std::unordered_map<const char*, bool> file_matches_;
};

}  // namespace

DebugInfo::DebugInfo(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DebugInfo::~DebugInfo() = default;

std::unique_ptr<DebugInfo> DebugInfo::open(const ObjectFile& elf) {
  std::unique_ptr<DwarfIndex> index = DwarfIndex::open(elf);
  if (!index) {
    return nullptr;
  }
  auto impl = std::make_unique<Impl>();
  impl->index = std::move(index);
  return std::unique_ptr<DebugInfo>(new DebugInfo(std::move(impl)));
}

void DebugInfo::set_printers(const TypePrinters* printers) { impl_->index->set_printers(printers); }

std::optional<SourcePlace> DebugInfo::declaration(uint64_t pc) {
  const Question question;
  std::optional<Dwarf_Die> function = impl_->index->function_at(pc);
  if (const auto place = function ? declaration_of(&*function) : std::nullopt)
    return SourcePlace{place->first, place->second};
  // Assembler code: its functions are labels.
  std::optional<Dwarf_Die> unit = impl_->index->unit_at(pc);
  Dwarf_Line* row = unit ? dwarf_getsrc_die(&*unit, pc - impl_->index->bias()) : nullptr;
  const char* source = row != nullptr ? dwarf_linesrc(row, nullptr, nullptr) : nullptr;
  int line = 0;
  if (source == nullptr || dwarf_lineno(row, &line) != 0 || line <= 0) return std::nullopt;
  return SourcePlace{source, static_cast<uint32_t>(line)};
}

std::string DebugInfo::compile_folder(uint64_t pc) {
  std::optional<Dwarf_Die> unit = impl_->index->unit_at(pc);
  return unit ? unit_folder(*unit) : "";
}

std::vector<LineHit> DebugInfo::line_addresses(const std::string& file, LineRange lines,
                                               uint64_t begin, uint64_t end,
                                               std::vector<uint32_t>& nearest, bool all_rows) {
  LineSearch search(*impl_->index, file, lines, begin, end, all_rows);
  if (std::optional<Dwarf_Die> unit = impl_->index->unit_at(begin)) {
    search.add(*unit);
  }
  nearest = search.nearest();
  return search.hits();
}

std::vector<LineHit> DebugInfo::line_addresses(const std::string& file, LineRange lines,
                                               std::vector<uint32_t>& nearest, bool all_rows) {
  // A source file is usually a unit of its own; a header's code lies in any of them.
  LineSearch search(*impl_->index, file, lines, 0, UINT64_MAX, all_rows);
  bool found = false;
  for (const Dwarf_Die& unit : impl_->index->units()) {
    Dwarf_Die die = unit;
    if (source_path_matches(file, die_name(&die), unit_folder(unit))) {
      search.add(unit);
      found = true;
    }
  }
  for (size_t i = 0; !found && i < impl_->index->units().size(); i++) {
    search.add(impl_->index->units()[i]);
  }
  nearest = search.nearest();
  return search.hits();
}

std::vector<InlineHit> DebugInfo::inlined(const NameMatcher& matcher) {
  const Question of_all(Question::kMostReferences + impl_->index->elf().all().size());
  InlineSearch search(*impl_->index, matcher);
  for (Dwarf_Die unit : impl_->index->units()) {
    search.add(&unit);
  }
  return search.hits();
}

std::vector<InlineHit> DebugInfo::inlined(const NameMatcher& matcher, uint64_t pc) {
  const Question question;
  InlineSearch search(*impl_->index, matcher);
  if (std::optional<Dwarf_Die> function = impl_->index->function_at(pc)) {
    search.add(&*function);
  }
  return search.hits();
}

bool DebugInfo::confirms(const NameMatcher::Meaning& meaning, const NameMatcher& matcher,
                         uint64_t pc) {
  const Question question;
  std::optional<Dwarf_Die> function = impl_->index->function_at(pc);
  return function && is_as_meant(meaning, *function) &&
         (!meaning.if_called || matcher.is_called(name(pc), meaning.if_in));
}

const std::string& DebugInfo::name(uint64_t pc) {
  auto [known, fresh] = impl_->names.try_emplace(pc);
  if (!fresh) return known->second;
  const Question question;
  std::optional<Dwarf_Die> function = impl_->index->function_at(pc);
  if (function) known->second = debug_name(*function);
  return known->second;
}

std::string DebugInfo::foreign_name(uint64_t pc, std::string_view symbol) {
  const Question question;
  std::optional<Dwarf_Die> unit = impl_->index->unit_at(pc);
  std::optional<Dwarf_Die> function =
      unit && is_foreign(*unit) ? impl_->index->function_at(pc) : std::nullopt;
  return function ? dj::foreign_name(*function, symbol) : "";
}

bool DebugInfo::has_foreign() {
  const std::vector<Dwarf_Die>& units = impl_->index->units();
  return std::any_of(units.begin(), units.end(), is_foreign);
}

std::vector<LabelHit> DebugInfo::labels(uint64_t pc) {
  const Question question;
  std::vector<LabelHit> found;
  if (std::optional<Dwarf_Die> function = impl_->index->function_at(pc)) {
    find_labels(&*function, *impl_->index, found);
  }
  return found;
}

namespace {

bool needs_function(const TargetExpr& expr) {
  return (expr.base != TargetExpr::Cast && expr.base != TargetExpr::Var) ||
         std::any_of(expr.like.begin(), expr.like.end(), needs_function);
}

}  // namespace

TargetAnswer DebugInfo::target(const ProbePlace& place, const TargetExpr& expr) {
  const Question question;
  std::optional<Dwarf_Die> function = impl_->index->function_at(place.pc);
  if (!function && needs_function(expr)) {
    return no_debug_info(place.pc, *impl_->index);
  }
  return resolve_target(function ? &*function : nullptr, place, expr, *impl_->index);
}

TextAnswer DebugInfo::text(const ProbePlace& place, const TargetExpr& expr) {
  const Question question;
  std::optional<Dwarf_Die> function = impl_->index->function_at(place.pc);
  if (!function && needs_function(expr)) {
    return no_debug_info(place.pc, *impl_->index);
  }
  Dwarf_Die* die = function ? &*function : nullptr;
  return expr.name.starts_with('$') ? resolve_text(die, place, expr, *impl_->index)
                                    : resolve_pretty(die, place, expr, *impl_->index);
}

std::vector<Variable> DebugInfo::variables(const ProbePlace& place) {
  const Question question;
  std::vector<Variable> result;
  std::optional<Dwarf_Die> function = impl_->index->function_at(place.pc);
  if (!function) {
    return result;
  }
  for (ScopedVariable& v : variables_in_scope(&*function, place, *impl_->index)) {
    result.push_back({v.name, type_name(type_of(&v.die)), v.parameter});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Variable& a, const Variable& b) { return a.parameter > b.parameter; });
  return result;
}

bool DebugInfo::is_result(uint64_t pc, const std::string& name) {
  const Question question;
  std::optional<Dwarf_Die> function = impl_->index->function_at(pc);
  std::vector<Dwarf_Die> results = function ? go_results(&*function) : std::vector<Dwarf_Die>();
  return std::any_of(results.begin(), results.end(),
                     [&](Dwarf_Die& die) { return die_name(&die) == name; });
}

std::string DebugInfo::return_type(uint64_t pc) {
  const Question question;
  std::optional<Dwarf_Die> function = impl_->index->function_at(pc);
  std::vector<Dwarf_Die> results = function ? go_results(&*function) : std::vector<Dwarf_Die>();
  TypeDie type = !results.empty() ? type_of(&results.front())
                 : function       ? type_of(&*function)
                                  : TypeDie{};
  return type ? type_name(type) : "";
}

}  // namespace dj
