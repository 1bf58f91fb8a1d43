// SPDX-License-Identifier: Apache-2.0
// Rules come from libdw as lists of DWARF operations; the few forms that compilers, the linker and
// the C library write become an UnwindRule, any other ends the walk.
#include "compiler/debuginfo/call_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "compiler/debuginfo/debug_info.h"
#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/eh_frame.h"
#include "compiler/debuginfo/foreign_names.h"
#include "compiler/debuginfo/source_lines.h"
#include "compiler/debuginfo/symbols.h"

namespace dj {
namespace {

constexpr int kDwarfRsp = 7, kDwarfReturn = 16;
// DWARF numbers of abi::SavedRegister.
constexpr int kDwarfSaved[abi::kSavedRegisters] = {3, 6, 12, 13, 14, 15};

std::optional<uint8_t> saved_register(int dwarf) {
  for (uint8_t i = 0; i < abi::kSavedRegisters; i++) {
    if (kDwarfSaved[i] == dwarf) {
      return i;
    }
  }
  return std::nullopt;
}

using Ops = std::span<const Dwarf_Op>;

// "register + offset", from one operation.
struct RegisterOffset {
  int reg = 0;
  int64_t offset = 0;
};
std::optional<RegisterOffset> register_offset(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
    return RegisterOffset{op.atom - DW_OP_breg0, static_cast<int64_t>(op.number)};
  }
  if (op.atom == DW_OP_bregx) {
    return RegisterOffset{static_cast<int>(op.number), static_cast<int64_t>(op.number2)};
  }
  return std::nullopt;
}

// rsp+8, and 8 more where rip & 15 >= N: what the linker says of PLT entries.
std::optional<uint8_t> linkage_bound(Ops ops) {
  constexpr uint8_t kForm[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
                               DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus};
  if (ops.size() != std::size(kForm)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < ops.size(); i++) {
    if (kForm[i] != 0 && ops[i].atom != kForm[i]) {
      return std::nullopt;
    }
  }
  const bool literal = ops[4].atom >= DW_OP_lit0 && ops[4].atom <= DW_OP_lit31;
  return literal ? std::optional<uint8_t>(ops[4].atom - DW_OP_lit0) : std::nullopt;
}

bool set_frame_address(Ops ops, abi::UnwindRule& rule) {
  if (std::optional<uint8_t> bound = linkage_bound(ops)) {
    rule.kind = abi::UnwindRule::Linkage;
    rule.base = *bound;
    return true;
  }
  std::optional<RegisterOffset> at = ops.empty() ? std::nullopt : register_offset(ops[0]);
  const bool stored = ops.size() >= 2 && ops[1].atom == DW_OP_deref;
  const bool plus = ops.size() == 3 && stored && ops[2].atom == DW_OP_plus_uconst;
  if (!at || ops.size() != 1u + stored + plus || at->offset != static_cast<int32_t>(at->offset)) {
    return false;
  }
  rule.offset = static_cast<int32_t>(at->offset);
  if (plus) rule.plus = static_cast<int32_t>(ops[2].number);
  if (at->reg == kDwarfRsp) {
    rule.kind = stored ? abi::UnwindRule::StoredOnStack : abi::UnwindRule::FromStack;
    return true;
  }
  std::optional<uint8_t> base = saved_register(at->reg);
  rule.kind = stored ? abi::UnwindRule::StoredAt : abi::UnwindRule::FromSaved;
  rule.base = base.value_or(0);
  return base.has_value();
}

// Where the caller's value of a register lies; from: UnwindRule::saved_from of that offset. False:
// in a way not understood.
bool set_saved(Dwarf_Frame* frame, int dwarf, int32_t& saved, uint8_t& from) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, dwarf, memory, &ops, &count) != 0) {
    return false;
  }
  saved = abi::kNotSaved;
  if (count == 0) {
    return true;  // unchanged, or undefined: for a register of the caller that is the same to us
  }
  from = 0;
  if (ops[0].atom != DW_OP_call_frame_cfa) {
    return false;
  }
  if (count == 1) {
    saved = 0;
  } else if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
    saved = static_cast<int32_t>(ops[1].number);
  } else if (count == 2) {  // an expression of its own, with the CFA below it: realigned stacks
    std::optional<RegisterOffset> at = register_offset(ops[1]);
    std::optional<uint8_t> base = at ? saved_register(at->reg) : std::nullopt;
    if (!base || at->offset != static_cast<int32_t>(at->offset)) return false;
    saved = static_cast<int32_t>(at->offset);
    from = static_cast<uint8_t>(1 + *base);
  } else {
    return false;
  }
  return true;
}

bool is_undefined(Dwarf_Frame* frame, int dwarf) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  return dwarf_frame_register(frame, dwarf, memory, &ops, &count) == 0 && count == 0 &&
         ops == memory;
}

abi::UnwindRule rule_of(Dwarf_Frame* frame, bool signal_frame) {
  abi::UnwindRule rule, end;
  if (signal_frame) {
    rule.kind = abi::UnwindRule::SignalFrame;
    return rule;
  }
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  int32_t return_at = 0;
  uint8_t from = 0;
  if (is_undefined(frame, kDwarfReturn) || dwarf_frame_cfa(frame, &ops, &count) != 0 ||
      !set_frame_address({ops, count}, rule) || !set_saved(frame, kDwarfReturn, return_at, from) ||
      return_at != -8 || from != 0) {
    return end;
  }
  bool any = false;
  for (size_t i = 0; i < abi::kSavedRegisters; i++) {
    if (!set_saved(frame, kDwarfSaved[i], rule.saved[i], from)) return end;
    if (rule.saved[i] == abi::kNotSaved) continue;
    if (any && from != rule.saved_from) return end;
    rule.saved_from = from;
    any = true;
  }
  return rule;
}

// Rules of a module, each once.
class Rules {
 public:
  explicit Rules(std::vector<abi::UnwindRule>& out) : out_(out) { add({abi::UnwindRule::NoRule}); }
  uint32_t add(const abi::UnwindRule& rule) {
    std::vector<int32_t> key(rule.saved, rule.saved + abi::kSavedRegisters);
    key.insert(key.end(), {rule.kind, rule.base, rule.saved_from, rule.offset, rule.plus});
    auto [found, fresh] = known_.try_emplace(std::move(key), static_cast<uint32_t>(out_.size()));
    if (fresh) {
      out_.push_back(rule);
    }
    return found->second;
  }

 private:
  std::vector<abi::UnwindRule>& out_;
  std::map<std::vector<int32_t>, uint32_t> known_;
};

struct FreeFrame {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

// The rows of one function: libdw tells for a place its rule and how far it holds.
void add_rows(Dwarf_CFI* cfi, const FrameEntry& entry, Rules& rules, StackInfo& out) {
  // libdw begins anew at the function's begin for each row.
  constexpr size_t kMostRows = 4096;
  const size_t most = out.rows.size() + kMostRows;
  uint64_t at = entry.begin;
  while (at < entry.end && out.rows.size() < most) {
    Dwarf_Frame* made = nullptr;
    if (dwarf_cfi_addrframe(cfi, at, &made) != 0) {
      break;
    }
    std::unique_ptr<Dwarf_Frame, FreeFrame> frame(made);
    Dwarf_Addr begin = 0, end = 0;
    bool signal_frame = false;
    dwarf_frame_info(frame.get(), &begin, &end, &signal_frame);
    out.rows.push_back(
        {static_cast<uint32_t>(at - out.base), rules.add(rule_of(made, signal_frame))});
    at = std::max<uint64_t>(end, at + 1);
  }
  out.rows.push_back({static_cast<uint32_t>(std::min(at, entry.end) - out.base), 0});
}

// Where a function's end and the next one's first row meet, the latter stays. The sort is stable,
// and ends come first.
void sort_rows(std::vector<abi::UnwindRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) {
    return std::tuple(a.at, a.rule != 0) < std::tuple(b.at, b.rule != 0);
  });
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); i++) {
    const bool last = i + 1 == rows.size() || rows[i + 1].at != rows[i].at;
    if (last && (kept == 0 || rows[kept - 1].rule != rows[i].rule)) {
      rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
}

void read_call_frames(const ObjectFile& elf, StackInfo& out) {
  Rules rules(out.rules);
  const Bytes file = elf.all();
  elf_version(EV_CURRENT);
  // libelf only reads an image that it is not told to write.
  Elf* handle = elf_memory(reinterpret_cast<char*>(const_cast<uint8_t*>(file.data())), file.size());
  Dwarf_CFI* cfi = handle != nullptr ? dwarf_getcfi_elf(handle) : nullptr;
  if (cfi != nullptr) {
    for (const FrameEntry& entry : read_frames(elf)) {
      if (out.rows.size() > file.size()) break;  // each takes a byte of the file
      if (entry.begin >= out.base && entry.end - out.base <= UINT32_MAX) {
        add_rows(cfi, entry, rules, out);
      }
    }
    dwarf_cfi_end(cfi);
  }
  elf_end(handle);
  sort_rows(out.rows);
}

// ForeignNames: of Fortran's and Ada's functions, by debug information.
class ForeignNames {
 public:
  ForeignNames(const ObjectFile& elf, const std::vector<Symbol>& functions) {
    if (may_have_foreign(elf, functions)) info_ = DebugInfo::open(elf);
    if (info_ && !info_->has_foreign()) info_.reset();
  }

  std::string of(const Symbol& symbol) {
    return info_ ? info_->foreign_name(symbol.address, symbol.name) : "";
  }

 private:
  std::unique_ptr<DebugInfo> info_;  // null: it has none of these languages
};

// Of several names of one place, the one that probes show: a global one, the shortest.
void read_stack_symbols(const ObjectFile& elf, StackInfo& out) {
  const SymbolTable table = read_symbols(elf, Ask::Servers);
  ForeignNames foreign(elf, table.functions);
  std::vector<Symbol> sorted = table.functions;
  std::sort(sorted.begin(), sorted.end(), [](const Symbol& a, const Symbol& b) {
    return std::tuple(a.address, a.binding == STB_LOCAL, a.name.size(), a.name) <
           std::tuple(b.address, b.binding == STB_LOCAL, b.name.size(), b.name);
  });
  for (const Symbol& symbol : sorted) {
    if (!out.symbols.empty() && out.symbols.back().address == symbol.address) {
      continue;
    }
    const std::string_view plain = symbol.name.substr(0, symbol.name.find('@'));
    std::string name = foreign.of(symbol);
    if (name.empty()) name = without_tags(split_symbol(plain).name);
    out.symbols.push_back({symbol.address, symbol.size, name.empty() ? std::string(plain) : name});
  }
}

}  // namespace

Result<StackInfo> read_stack_info(const std::string& path, bool lines) {
  DJ_TRY(ObjectFile elf, ObjectFile::open(path));
  StackInfo out;
  out.base = UINT64_MAX;
  for (const Elf64_Phdr& segment : elf.segments()) {
    if (segment.p_type == PT_LOAD) {
      out.base = std::min<uint64_t>(out.base, segment.p_vaddr);
    }
  }
  read_call_frames(elf, out);
  read_stack_symbols(elf, out);
  if (lines) {
    read_source_lines(elf, out);
  }
  return out;
}

}  // namespace dj
