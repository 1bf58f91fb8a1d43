// SPDX-License-Identifier: Apache-2.0
// Builds the address index of a file's DWARF: one pass over the units, one over each unit's
// functions.
#include "compiler/debuginfo/dwarf_index.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/location_lists.h"
#include "compiler/debuginfo/symbols.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {

std::vector<Dwarf_Die> children(Dwarf_Die* die) {
  std::vector<Dwarf_Die> result;
  Dwarf_Die child;
  if (first_child(die, &child)) {
    do {
      result.push_back(child);
    } while (dwarf_siblingof(&child, &child) == 0);
  }
  return result;
}

std::optional<Dwarf_Attribute> attribute(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attr;
  if (!dwarf_attr_integrate(die, name, &attr)) {
    return std::nullopt;
  }
  // Go's expressions in DWARF 4 are blocks, as in DWARF 3; libdw takes them for no expressions.
  // Both begin with their length, which is one byte here.
  const bool expression = name == DW_AT_location || name == DW_AT_frame_base;
  if (expression && attr.form == DW_FORM_block1 && *attr.valp < 0x80) {
    attr.form = DW_FORM_exprloc;
  }
  return attr;
}

std::optional<uint64_t> number(Dwarf_Die* die, unsigned name) {
  std::optional<Dwarf_Attribute> attr = attribute(die, name);
  Dwarf_Word value = 0;
  return attr && dwarf_formudata(&*attr, &value) == 0 ? std::optional<uint64_t>(value)
                                                      : std::nullopt;
}

std::optional<int64_t> signed_number(Dwarf_Attribute* attr) {
  Dwarf_Word bytes = 0;
  switch (dwarf_whatform(attr)) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
      return dwarf_formudata(attr, &bytes) == 0 ? std::optional(int64_t(bytes)) : std::nullopt;
    default:
      break;
  }
  Dwarf_Sword value = 0;
  return dwarf_formsdata(attr, &value) == 0 ? std::optional<int64_t>(value) : std::nullopt;
}

bool flag(Dwarf_Die* die, unsigned name) {
  std::optional<Dwarf_Attribute> attr = attribute(die, name);
  bool value = false;
  return attr && dwarf_formflag(&*attr, &value) == 0 && value;
}

std::string die_name(Dwarf_Die* die) {
  std::optional<Dwarf_Attribute> attr = attribute(die, DW_AT_name);
  const char* text = attr ? dwarf_formstring(&*attr) : nullptr;
  return text ? text : "";
}

std::string linkage_name(Dwarf_Die* die) {
  std::optional<Dwarf_Attribute> attr = attribute(die, DW_AT_linkage_name);
  if (!attr) attr = attribute(die, DW_AT_MIPS_linkage_name);  // of DWARF 2 and 3
  const char* text = attr ? dwarf_formstring(&*attr) : nullptr;
  return text ? text : die_name(die);
}

std::optional<Dwarf_Die> referred(Dwarf_Die* die, unsigned name) {
  std::optional<Dwarf_Attribute> attr = attribute(die, name);
  Dwarf_Die result;
  if (!attr || !may_follow()) return std::nullopt;
  if (dwarf_formref_die(&*attr, &result)) return result;
  uint64_t signature = 0;
  if (attr->form != DW_FORM_ref_sig8) return std::nullopt;
  std::memcpy(&signature, attr->valp, sizeof signature);
  return packed_type(dwarf_cu_getdwarf(attr->cu), signature);
}

uint64_t identity(const Dwarf_Die& die) { return reinterpret_cast<uint64_t>(die.addr); }

std::optional<std::pair<std::string, uint32_t>> declaration_of(Dwarf_Die* die) {
  std::optional<Dwarf_Attribute> attr = attribute(die, DW_AT_decl_file);
  std::optional<uint64_t> line = number(die, DW_AT_decl_line);
  Dwarf_Word file = 0;
  if (!attr || !line || dwarf_formudata(&*attr, &file) != 0) {
    return std::nullopt;
  }
  // Not dwarf_decl_file(): it takes DWARF 5's file 0, which clang uses, for none.
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (!dwarf_cu_die(attr->cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count) {
    return std::nullopt;
  }
  const char* path = dwarf_filesrc(files, file, nullptr, nullptr);
  return path ? std::optional(std::pair(std::string(path), uint32_t(*line))) : std::nullopt;
}

std::unique_ptr<DwarfIndex> DwarfIndex::open(const ObjectFile& elf) {
  const Question question(Question::kMostReferences + elf.all().size());
  std::unique_ptr<DwarfIndex> index(new DwarfIndex(elf));
  if (!index->file_.module()) {
    return nullptr;
  }
  Dwarf_Addr bias = 0;
  index->opened_.dwarf = index->file_.dwarf(&bias);
  if (!index->opened_.dwarf) {
    return nullptr;
  }
  index->opened_.bias = bias;
  index->ranges_ = CodeRanges(index->opened_.dwarf);
  index->index_units();
  return index->units_.all.empty() ? nullptr : std::move(index);
}

void DwarfIndex::add_ranges(Dwarf_Die* die, size_t index, std::vector<Range>& out) const {
  for (const auto& [begin, end] : ranges(die)) {
    if (begin < end) {
      out.push_back({begin, end, index});
    }
  }
}

std::vector<CodeRanges::AddressPair> DwarfIndex::ranges(Dwarf_Die* die) const {
  std::vector<CodeRanges::AddressPair> result = ranges_.of(die);
  for (auto& [begin, end] : result) {
    begin += opened_.bias;
    end += opened_.bias;
  }
  return result;
}

bool DwarfIndex::lines(Dwarf_Die unit, Dwarf_Lines** lines, size_t* count) {
  if (rows_left_ == 0 || dwarf_getsrclines(&unit, lines, count) != 0) {
    return false;
  }
  rows_left_ -= std::min<uint64_t>(rows_left_, *count);
  return true;
}

void DwarfIndex::index_units() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  uint8_t type = 0;
  while (dwarf_get_units(opened_.dwarf, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) {
      continue;
    }
    const size_t before = units_.ranges.size();
    add_ranges(&die, units_.all.size(), units_.ranges);
    if (type == DW_UT_skeleton) die = split_of(unit).value_or(die);
    units_.all.push_back(die);
    if (units_.ranges.size() == before) {
      // A unit without ranges of its own may still hold functions.
      Functions functions;
      collect(&die, functions, true);
      for (const Range& r : functions.ranges) {
        units_.ranges.push_back({r.begin, r.end, units_.all.size() - 1});
      }
    }
  }
  std::sort(units_.ranges.begin(), units_.ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

// All but the addresses of a skeleton lies in a .dwo file, or in the program's .dwp.
std::optional<Dwarf_Die> DwarfIndex::split_of(Dwarf_CU* skeleton) {
  if (!packed_.searched) packed_.units = PackedUnits::open(elf_.open_path() + ".dwp");
  packed_.searched = true;
  uint64_t id = 0;
  Dwarf_Die split;
  dwarf_cu_info(skeleton, nullptr, nullptr, nullptr, nullptr, &id, nullptr, nullptr);
  const PackedSearch search(packed_.units.get(), id);
  if (dwarf_cu_info(skeleton, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) != 0 ||
      dwarf_tag(&split) != DW_TAG_compile_unit) {
    return std::nullopt;
  }
  if (packed_.units) packed_.units->adopt(dwarf_cu_getdwarf(split.cu));
  return split;
}

std::optional<Dwarf_Die> DwarfIndex::unit_at(uint64_t pc) {
  auto next = std::upper_bound(units_.ranges.begin(), units_.ranges.end(), pc,
                               [](uint64_t a, const Range& r) { return a < r.begin; });
  // Ranges of units do not overlap in a linked file; look back a little for broken ones.
  for (int i = 0; i < 8 && next != units_.ranges.begin(); i++) {
    --next;
    if (pc < next->end) {
      return units_.all[next->index];
    }
  }
  return std::nullopt;
}

std::string DwarfIndex::missing_file(uint64_t pc) {
  std::optional<Dwarf_Die> unit = unit_at(pc);
  for (const unsigned name : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
    Dwarf_Attribute attr;
    const char* text = unit && dwarf_attr(&*unit, name, &attr) ? dwarf_formstring(&attr) : nullptr;
    Dwarf_Die die, split;
    uint8_t type = 0;
    if (!text || dwarf_cu_info(unit->cu, nullptr, &type, &die, &split, nullptr, nullptr, nullptr) ||
        type != DW_UT_skeleton) {
      continue;
    }
    const char* folder = dwarf_attr(&*unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : "";
    return *text == '/' || !folder ? std::string(text) : std::string(folder) + "/" + text;
  }
  return {};
}

// Functions with code lie directly in the unit, in namespaces, in classes and, if `nested`, inside
// other functions: those of local classes, Fortran's contained procedures, GNU C's nested
// functions.
void DwarfIndex::collect(Dwarf_Die* parent, Functions& out, bool nested) const {
  Dwarf_Die child;
  if (!first_child(parent, &child)) {
    return;
  }
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        add_ranges(&child, out.dies.size(), out.ranges);
        out.dies.push_back(child);
        if (nested) {
          collect(&child, out, true);
        }
        break;
      case DW_TAG_lexical_block:
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
        collect(&child, out, nested);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

namespace {

// A variable of the code below the DIE has a list of locations, or a parameter of it a constant.
bool has_moving_variable(Dwarf_Die* parent) {
  Dwarf_Die child;
  if (!first_child(parent, &child)) return false;
  do {
    const int tag = dwarf_tag(&child);
    Dwarf_Attribute attr;
    if ((dwarf_attr(&child, DW_AT_location, &attr) && is_list(&attr)) ||
        (tag == DW_TAG_formal_parameter && dwarf_hasattr(&child, DW_AT_const_value)) ||
        has_moving_variable(&child)) {
      return true;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

}  // namespace

std::optional<Dwarf_Die> DwarfIndex::function_at(uint64_t pc) {
  std::optional<Dwarf_Die> unit = unit_at(pc);
  if (!unit) {
    return std::nullopt;
  }
  auto [found, fresh] = units_.functions.try_emplace(identity(*unit));
  Functions& functions = found->second;
  if (fresh) {
    collect(&*unit, functions, false);
    functions.sort();
  }
  std::optional<Dwarf_Die> function = functions.at(pc);
  if (!function && !functions.nested) {  // rare, and it takes a look at every function
    functions = {};
    functions.nested = true;
    collect(&*unit, functions, true);
    functions.sort();
    function = functions.at(pc);
  }
  return function;
}

bool DwarfIndex::is_optimized(Dwarf_Die* function) {
  Dwarf_Die unit;
  Dwarf_Addr begin = 0;
  if (!dwarf_diecu(function, &unit, nullptr, nullptr) || dwarf_lowpc(function, &begin) != 0 ||
      !function_at(begin + opened_.bias)) {
    return true;  // more is unknown of such code, as of optimized code
  }
  std::optional<bool>& known = units_.functions[identity(unit)].optimized;
  if (!known) known = has_moving_variable(&unit);
  return *known;
}

void DwarfIndex::Functions::sort() {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

std::optional<Dwarf_Die> DwarfIndex::Functions::at(uint64_t pc) const {
  auto next = std::upper_bound(ranges.begin(), ranges.end(), pc,
                               [](uint64_t a, const Range& r) { return a < r.begin; });
  for (int i = 0; i < 8 && next != ranges.begin(); i++) {
    --next;
    if (pc < next->end) {
      return dies[next->index];
    }
  }
  return std::nullopt;
}

uint64_t DwarfIndex::mark(const Dwarf_Die& die) {
  marked_[identity(die)] = die;
  return identity(die);
}

std::optional<Dwarf_Die> DwarfIndex::marked(uint64_t mark) const {
  auto found = marked_.find(mark);
  return found != marked_.end() ? std::optional(found->second) : std::nullopt;
}

bool DwarfIndex::covers(Dwarf_Die* die, uint64_t pc) const {
  const std::vector<CodeRanges::AddressPair> all = ranges(die);
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& range) { return range.first <= pc && pc < range.second; });
}

// dwz moves types that several units have into partial units, perhaps of a file of their own;
// -fdebug-types-section gives each a unit.
std::vector<Dwarf_Die> DwarfIndex::units_of_types() {
  std::vector<Dwarf_Die> all = units_.all;
  std::set<Dwarf*> files = {opened_.dwarf, dwarf_getalt(opened_.dwarf)};
  for (const Dwarf_Die& unit : units_.all) files.insert(dwarf_cu_getdwarf(unit.cu));
  files.erase(nullptr);
  for (Dwarf* file : files) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    uint8_t kind = 0;
    while (dwarf_get_units(file, unit, &unit, nullptr, &kind, &die, nullptr) == 0) {
      if (kind == DW_UT_partial || kind == DW_UT_type || kind == DW_UT_split_type)
        all.push_back(die);
    }
  }
  return all;
}

std::optional<Dwarf_Die> DwarfIndex::complete_type(Dwarf_Die* declared) {
  if (!complete_types_) complete_types_.emplace(units_of_types());
  return complete_types_->find(declared);
}

bool DwarfIndex::is_global_function(uint64_t address) {
  if (!globals_.indexed) {
    globals_.indexed = true;
    for (const Symbol& s : own_symbols(elf_)) {
      if (s.binding != STB_LOCAL) {
        globals_.functions.push_back(s.address);
      }
    }
    std::sort(globals_.functions.begin(), globals_.functions.end());
  }
  return std::binary_search(globals_.functions.begin(), globals_.functions.end(), address);
}

template <typename Visit>
void DwarfIndex::each_frame(uint64_t pc, Visit visit) const {
  Dwarf_Addr biases[2] = {0, 0};
  Dwarf_CFI* tables[2] = {dwfl_module_eh_cfi(file_.module(), &biases[0]),
                          dwfl_module_dwarf_cfi(file_.module(), &biases[1])};
  for (int i = 0; i < 2; i++) {
    Dwarf_Frame* frame = nullptr;
    if (!tables[i] || dwarf_cfi_addrframe(tables[i], pc - biases[i], &frame) != 0) {
      continue;
    }
    const bool done = visit(frame);
    std::free(frame);
    if (done) {
      return;
    }
  }
}

std::vector<Dwarf_Op> DwarfIndex::cfa_ops(uint64_t pc) const {
  std::vector<Dwarf_Op> result;
  each_frame(pc, [&](Dwarf_Frame* frame) {
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0) {
      result.assign(ops, ops + count);
    }
    return !result.empty();
  });
  return result;
}

std::optional<DwarfIndex::Saved> DwarfIndex::saved_register(uint64_t pc, int reg) const {
  std::optional<Saved> result;
  each_frame(pc, [&](Dwarf_Frame* frame) {
    Dwarf_Op memory[3];
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0) {
      return false;
    }
    constexpr int kRbx = 3;  // elfutils takes rax for it, of the registers that calls preserve
    if (count == 0 && (!ops || reg == kRbx)) {
      result = Saved{};
    } else if ((count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst)) &&
               ops[0].atom == DW_OP_call_frame_cfa) {
      result = Saved{true, count == 2 ? int64_t(ops[1].number) : 0};
    }
    return true;
  });
  return result;
}

std::vector<uint64_t> DwarfIndex::transfers_to(uint64_t address) {
  if (!calls_.transfers) {
    calls_.transfers.emplace();
    for (const Section& section : elf_.sections()) {
      if (!section.executable()) continue;
      const auto found = arch::direct_transfers(section.bytes, section.header.sh_addr);
      calls_.transfers->insert(calls_.transfers->end(), found.begin(), found.end());
    }
    std::sort(calls_.transfers->begin(), calls_.transfers->end());
  }
  std::vector<uint64_t> from;
  auto next =
      std::lower_bound(calls_.transfers->begin(), calls_.transfers->end(), std::pair(address, 0UL));
  for (; next != calls_.transfers->end() && next->first == address; ++next)
    from.push_back(next->second);
  return from;
}

const CallSites& DwarfIndex::call_sites() {
  if (!calls_.sites) {
    const Question of_all(Question::kMostReferences + elf_.all().size());
    calls_.sites = std::make_unique<CallSites>(units_.all);
  }
  return *calls_.sites;
}

}  // namespace dj
