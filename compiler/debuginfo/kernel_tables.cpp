// SPDX-License-Identifier: Apache-2.0
// The four tables have entries of fixed size, whose first word leads to an instruction: its
// distance from the word itself.
//
//   __ex_table          insn, fixup, data: a fault at insn goes on at fixup
//   __jump_table        code, target, key: code is a nop or a jump to target, by turns
//   .static_call_sites  code, key: code is a call, a jump or a nop, whose target changes
//   __bug_table         code, file, line: code is the ud2 of a WARN() or BUG()
//
// __ksymtab and __ksymtab_gpl are alike, and name what modules may use: value, name, namespace.
#include "compiler/debuginfo/kernel_tables.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "compiler/debuginfo/symbols.h"

namespace dj {

namespace {

using arch::FunctionRange;
using arch::ModuleText;

// The region of kernel modules, where memory for code comes from. All of it is above the kernel's
// own text, wherever that has been moved to.
constexpr uint64_t kModules = 0xffffffffc0000000, kModulesEnd = 0xffffffffff000000;

constexpr uint64_t kJumpBytes = 5, kShortJumpBytes = 2, kLongConditionalBytes = 6, kTrapBytes = 2;

struct TableEntry {
  uint64_t address;
  Bytes bytes;
  // The address that the word at `offset` leads to.
  uint64_t named(uint64_t offset = 0) const {
    return address + offset + uint64_t(int64_t{read_word<int32_t>(bytes, offset)});
  }
};

// Calls visit(TableEntry) for each entry of a section. Modules' files have no segments for them.
template <typename Visit>
void each_entry(const ObjectFile& elf, std::string_view name, uint64_t bytes, Visit visit) {
  const Section* section = elf.section(name);
  if (section == nullptr) return;
  const uint64_t begin = section->header.sh_addr;
  for (uint64_t at = 0; at + bytes <= section->bytes.size(); at += bytes)
    visit(TableEntry{begin + at, section->bytes.subspan(at, bytes)});
}

bool begins_with(Bytes code, std::initializer_list<uint8_t> with) {
  return code.size() >= with.size() && std::equal(with.begin(), with.end(), code.begin());
}

uint64_t branch_bytes(Bytes code) {
  if (begins_with(code, {0xeb}) || begins_with(code, {0x66, 0x90})) return kShortJumpBytes;
  const bool conditional = code.size() > 1 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80;
  return conditional ? kLongConditionalBytes : kJumpBytes;
}

// The function around an address; null: none.
const FunctionRange* function_around(const ModuleText& text, uint64_t address) {
  const auto behind =
      std::upper_bound(text.functions.begin(), text.functions.end(), address,
                       [](uint64_t a, const FunctionRange& f) { return a < f.begin; });
  if (behind == text.functions.begin()) return nullptr;
  const FunctionRange& function = *std::prev(behind);
  return address < function.end ? &function : nullptr;
}

class Tables {
 public:
  Tables(const ObjectFile& elf, ModuleText& text) : elf_(elf), text_(text) {}

  void add() {
    each_entry(elf_, "__ex_table", 12, [this](const TableEntry& entry) {
      const uint64_t instruction = entry.named();
      fix(instruction, 1);  // a part of an instruction stands for all of it
      land(instruction, entry.named(4));
    });
    each_entry(elf_, "__jump_table", 16, [this](const TableEntry& entry) {
      const uint64_t code = entry.named();
      fix(code, branch_bytes(elf_.at(code)));
      land(code, entry.named(4));
    });
    each_entry(elf_, ".static_call_sites", 8, [this](const TableEntry& entry) {
      const uint64_t code = entry.named();
      fix(code, branch_bytes(elf_.at(code)) == kLongConditionalBytes ? kLongConditionalBytes
                                                                     : kJumpBytes);
    });
    each_entry(elf_, "__bug_table", 12,
               [this](const TableEntry& entry) { fix(entry.named(), kTrapBytes); });
    std::sort(text_.far_pads.begin(), text_.far_pads.end());
    settle();
  }

 private:
  void fix(uint64_t address, uint64_t bytes) {
    if (elf_.is_code(address)) text_.fixed.push_back({address, address + bytes});
  }

  // Control goes from an instruction to `to`.
  void land(uint64_t from, uint64_t to) {
    if (!elf_.is_code(from) || !elf_.is_code(to)) return;
    text_.landing_pads.push_back(to);
    const FunctionRange* function = function_around(text_, from);
    if (function != nullptr && (to < function->begin || to >= function->end))
      text_.far_pads.emplace_back(function->begin, to);
  }

  // Sorted and apart: an instruction may stand in several tables.
  void settle() {
    std::vector<FunctionRange> ranges = std::move(text_.fixed);
    std::sort(ranges.begin(), ranges.end(),
              [](const FunctionRange& a, const FunctionRange& b) { return a.begin < b.begin; });
    text_.fixed.clear();
    for (const FunctionRange& range : ranges) {
      if (text_.fixed.empty() || range.begin >= text_.fixed.back().end)
        text_.fixed.push_back(range);
      else
        text_.fixed.back().end = std::max(text_.fixed.back().end, range.end);
    }
  }

  const ObjectFile& elf_;
  ModuleText& text_;
};

// Every function may be entered: modules, variables and the code of the kernel's start refer to
// functions, and the file has none of these. What compilers have split off is entered by its
// function alone.
void enter_functions(ModuleText& text) {
  std::vector<uint64_t> parts = text.split_off;
  std::sort(parts.begin(), parts.end());
  for (const uint64_t begin : text.named) {
    if (!std::binary_search(parts.begin(), parts.end(), begin)) text.address_taken.push_back(begin);
  }
}

// The register by which a kernel's thunk of that name jumps; empty: it is none.
std::optional<uint8_t> register_of_thunk(std::string_view name) {
  constexpr std::string_view kPrefix = "__x86_indirect_thunk_";
  constexpr std::array<std::string_view, 16> kRegisters = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                           "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                           "r12", "r13", "r14", "r15"};
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto found = std::ranges::find(kRegisters, name.substr(kPrefix.size()));
  if (found == kRegisters.end()) return std::nullopt;
  return uint8_t(found - kRegisters.begin());
}

void add_functions_outside(const ObjectFile& elf, ModuleText& text) {
  for (const Symbol& function : functions_outside(elf)) {
    const std::optional<uint8_t> thunk = register_of_thunk(function.name);
    if (is_return_thunk(function.name))
      text.return_thunks.push_back(function.address);
    else if (thunk)
      text.thunks_outside.emplace_back(function.address, *thunk);
    else
      text.functions_outside.push_back(function.address);
  }
  std::ranges::sort(text.functions_outside);
  std::ranges::sort(text.thunks_outside);
}

}  // namespace

bool is_return_thunk(std::string_view name) { return name.ends_with("_return_thunk"); }

void add_kernel_tables(const ObjectFile& elf, ModuleText& text) {
  if (text.text.empty() || !arch::is_kernels(text.text.front().address)) return;
  Tables(elf, text).add();
  enter_functions(text);
  add_functions_outside(elf, text);
  // Around nothing: detours lie in this region, not beside the kernel's image.
  text.code_space = arch::Space{kModules, kModules, kModules, kModulesEnd};
}

std::vector<uint64_t> kernel_exports(const ObjectFile& elf) {
  std::vector<uint64_t> addresses;
  for (const char* table : {"__ksymtab", "__ksymtab_gpl"})
    each_entry(elf, table, 12,
               [&](const TableEntry& entry) { addresses.push_back(entry.named()); });
  return addresses;
}

}  // namespace dj
