// SPDX-License-Identifier: Apache-2.0
// Takes the bounds of the kernel's parts from its symbols, and their bytes from its memory.
#include "runtime/kernel/live_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "runtime/kernel/elf_builder.h"
#include "runtime/kernel/kernel_file.h"
#include "runtime/kernel/kernel_text.h"
#include "runtime/kernel/live_module.h"

namespace dj {

namespace {

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

}  // namespace

Result<LiveKernel> LiveKernel::open(const KernelFiles& files) {
  DJ_TRY(KernelSymbols symbols, KernelSymbols::read(files.symbols));
  DJ_TRY(KernelMemory memory, KernelMemory::open(files.memory));
  return LiveKernel(files, std::move(symbols), std::move(memory));
}

Result<std::vector<uint8_t>> LiveKernel::kernel() const {
  DJ_TRY(const std::vector<char> notes, read_kernel_file(files_.notes));
  Parts code = {{".text", "_stext", "_etext", true}};
  Parts constants = {{".rodata", "__start_rodata", "__end_rodata", true}};
  Parts tables = {
      {"__ex_table", "__start___ex_table", "__stop___ex_table", true},
      {"__jump_table", "__start___jump_table", "__stop___jump_table", false},
      {".static_call_sites", "__start_static_call_sites", "__stop_static_call_sites", false},
      {"__bug_table", "__start___bug_table", "__stop___bug_table", false},
      {"__ksymtab", "__start___ksymtab", "__stop___ksymtab", false},
      {"__ksymtab_gpl", "__start___ksymtab_gpl", "__stop___ksymtab_gpl", false},
  };
  Parts types = {{".BTF", "__start_BTF", "__stop_BTF", false}};  // /sys/kernel/btf/vmlinux has them
  for (Parts* parts : {&code, &constants, &tables, &types})
    DJ_TRY_DO(find_bounds(symbols_, files_.symbols, *parts));
  Parts others = tables;
  others.insert(others.end(), types.begin(), types.end());
  Parts data = without(constants[0], others);
  data.insert(data.end(), tables.begin(), tables.end());

  ElfBuilder elf(data.size() + code.size());
  const std::span<uint8_t> text =
      elf.add(".text", code[0].begin, code[0].end - code[0].begin, true);
  DJ_TRY_DO(read_kernel_text(memory_, code[0].begin, text));
  add_kernel_functions(symbols_.all(), code[0].begin, text, {}, elf);
  for (const Part& part : data) {
    const auto bytes = elf.add(part.name, part.begin, part.end - part.begin, false);
    DJ_TRY_DO(memory_.read(part.begin, bytes));
  }
  elf.add_notes(notes);
  return elf.finish();
}

Result<std::vector<uint8_t>> LiveKernel::module(const std::string& name) const {
  std::string known = name;
  std::ranges::replace(known, '-', '_');  // in file names
  DJ_TRY(const std::vector<std::string> loaded, modules());
  if (std::ranges::find(loaded, known) == loaded.end())
    return Error{"the kernel has loaded no module " + name, Fail::NotFound};
  return write_live_module(files_.modules + "/" + known, known, symbols_, memory_);
}

// Lines are "NAME BYTES USES USERS STATE ADDRESS".
Result<std::vector<std::string>> LiveKernel::modules() const {
  DJ_TRY(const std::vector<char> text, read_kernel_file(files_.loaded));
  std::istringstream lines(std::string(text.begin(), text.end()));
  std::vector<std::string> names;
  std::string name, bytes, uses, users, state, rest;
  while (lines >> name >> bytes >> uses >> users >> state && std::getline(lines, rest)) {
    if (state == "Live") names.push_back(name);
  }
  return names;
}

Result<std::vector<uint8_t>> make_live_kernel(const KernelFiles& files) {
  DJ_TRY(const LiveKernel live, LiveKernel::open(files));
  return live.kernel();
}

}  // namespace dj
