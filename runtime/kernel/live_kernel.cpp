// SPDX-License-Identifier: Apache-2.0
// Takes the bounds of the kernel's parts from its symbols, and their bytes from its memory.
#include "runtime/kernel/live_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/kernel/elf_builder.h"
#include "runtime/kernel/kernel_file.h"
#include "runtime/kernel/kernel_memory.h"
#include "runtime/kernel/kernel_symbols.h"

namespace dj {

namespace {

constexpr uint8_t kInt3 = 0xcc;
constexpr uint64_t kMostBytes = 256 << 20;  // of a part: kernels have some ten megabytes

// What the linker has put between two bounds.
struct Part {
  const char* name;  // of its section
  const char* first;
  const char* last;
  bool is_needed;  // every kernel has it
  uint64_t begin = 0, end = 0;
};

using Parts = std::vector<Part>;

// Fills begins and ends; drops the parts that this kernel has not.
Status find_bounds(const KernelSymbols& symbols, const std::string& path, Parts& parts) {
  Parts found;
  for (Part part : parts) {
    const std::optional<uint64_t> begin = symbols.bound(part.first), end = symbols.bound(part.last);
    if (!begin && !end && !part.is_needed) continue;
    if (!begin || !end)
      return Error{fmt::format("{} names no {}: the kernel is built without the names of its data "
                               "(CONFIG_KALLSYMS_ALL)",
                               path, begin ? part.last : part.first),
                   Fail::Unsupported};
    if (*end < *begin || *end - *begin > kMostBytes)
      return Error{fmt::format("{} has {} at {:#x} and {} at {:#x}", path, part.first, *begin,
                               part.last, *end)};
    part.begin = *begin;
    part.end = *end;
    found.push_back(part);
  }
  parts = std::move(found);
  return ok_status();
}

// The pieces of [begin, end) that belong to no part of `others`.
Parts without(const Part& whole, Parts others) {
  std::sort(others.begin(), others.end(),
            [](const Part& a, const Part& b) { return a.begin < b.begin; });
  Parts pieces;
  uint64_t from = whole.begin;
  for (const Part& other : others) {
    if (other.end <= from || other.begin >= whole.end) continue;
    if (other.begin > from) {
      pieces.push_back(whole);
      pieces.back().begin = from;
      pieces.back().end = other.begin;
    }
    from = other.end;
  }
  if (from < whole.end) {
    pieces.push_back(whole);
    pieces.back().begin = from;
  }
  return pieces;
}

// A function ends where the next symbol begins, less the int3 between them. __pfx_ and __cfi_ name
// the bytes in front of a function that calls go around.
void add_functions(const KernelSymbols& symbols, const Part& text, std::span<const uint8_t> code,
                   ElfBuilder& elf) {
  std::vector<const KernelSymbol*> inside;
  for (const KernelSymbol& symbol : symbols.all()) {
    if (symbol.is_text() && symbol.address >= text.begin && symbol.address < text.end)
      inside.push_back(&symbol);
  }
  uint64_t next = text.end;  // the begin of the symbol behind that is not an alias
  for (size_t i = inside.size(); i-- > 0;) {
    const KernelSymbol& symbol = *inside[i];
    if (i + 1 < inside.size() && inside[i + 1]->address != symbol.address)
      next = inside[i + 1]->address;
    const bool is_function = !symbol.is_bound() && !symbol.name.starts_with("__pfx_") &&
                             !symbol.name.starts_with("__cfi_");
    uint64_t end = next;
    while (end > symbol.address + 1 && code[end - 1 - text.begin] == kInt3) end--;
    if (is_function)
      elf.add_function(symbol.address, end - symbol.address, symbol.name, symbol.is_global());
  }
}

// The kernel patches its text by an int3 that stands there for some microseconds: what two looks
// find alike is code.
Status read_text(const KernelMemory& memory, uint64_t address, std::span<uint8_t> text) {
  constexpr int kLooks = 20;
  DJ_TRY_DO(memory.read(address, text));
  std::vector<uint8_t> again(text.size());
  for (int look = 0; look < kLooks; look++) {
    DJ_TRY_DO(memory.read(address, again));
    if (std::equal(text.begin(), text.end(), again.begin())) return ok_status();
    std::copy(again.begin(), again.end(), text.begin());
  }
  return Error{"the kernel's text changes each time that djtap looks at it"};
}

}  // namespace

Result<std::vector<uint8_t>> make_live_kernel(const KernelFiles& files) {
  DJ_TRY(const KernelSymbols symbols, KernelSymbols::read(files.symbols));
  DJ_TRY(const KernelMemory memory, KernelMemory::open(files.memory));
  DJ_TRY(const std::vector<char> notes, read_kernel_file(files.notes));
  Parts code = {{".text", "_stext", "_etext", true}};
  Parts constants = {{".rodata", "__start_rodata", "__end_rodata", true}};
  Parts tables = {
      {"__ex_table", "__start___ex_table", "__stop___ex_table", true},
      {"__jump_table", "__start___jump_table", "__stop___jump_table", false},
      {".static_call_sites", "__start_static_call_sites", "__stop_static_call_sites", false},
      {"__bug_table", "__start___bug_table", "__stop___bug_table", false},
  };
  Parts types = {{".BTF", "__start_BTF", "__stop_BTF", false}};  // /sys/kernel/btf/vmlinux has them
  for (Parts* parts : {&code, &constants, &tables, &types})
    DJ_TRY_DO(find_bounds(symbols, files.symbols, *parts));
  Parts others = tables;
  others.insert(others.end(), types.begin(), types.end());
  Parts data = without(constants[0], others);
  data.insert(data.end(), tables.begin(), tables.end());

  ElfBuilder elf(data.size() + code.size());
  const std::span<uint8_t> text =
      elf.add(".text", code[0].begin, code[0].end - code[0].begin, true);
  DJ_TRY_DO(read_text(memory, code[0].begin, text));
  add_functions(symbols, code[0], text, elf);
  for (const Part& part : data) {
    const auto bytes = elf.add(part.name, part.begin, part.end - part.begin, false);
    DJ_TRY_DO(memory.read(part.begin, bytes));
  }
  elf.add_notes(notes);
  return elf.finish();
}

}  // namespace dj
