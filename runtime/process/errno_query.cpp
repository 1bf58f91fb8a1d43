// SPDX-License-Identifier: Apache-2.0
// Reads the few instructions of __errno_location.
#include "runtime/process/errno_query.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

#include "runtime/process/c_library.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/running_memory.h"

namespace dj {
namespace {

using Code = std::array<uint8_t, 32>;

bool begins(const Code& code, size_t at, std::initializer_list<uint8_t> bytes) {
  return at + bytes.size() <= code.size() && std::equal(bytes.begin(), bytes.end(), &code[at]);
}

bool adds_fs_base(const Code& code, size_t at) {
  return begins(code, at, {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0});
}

int32_t number_at(const Code& code, size_t at) {
  int32_t value = 0;
  std::memcpy(&value, &code[at], sizeof value);
  return value;
}

}  // namespace

std::optional<int64_t> errno_offset(pid_t pid, const std::vector<MappedModule>& modules) {
  const MappedModule* library = c_library(modules);
  if (library == nullptr) return std::nullopt;
  Result<ElfSymbol> function = find_symbol(library->open_path, "__errno_location");
  RunningMemory memory(pid);
  Code code = {};
  if (!function.ok() || !memory.is_open()) return std::nullopt;
  const uint64_t begin = function.value().address + library->bias;
  if (!memory.read(begin, code.data(), code.size())) return std::nullopt;
  size_t at = begins(code, 0, {0xf3, 0x0f, 0x1e, 0xfa}) ? 4 : 0;  // endbr64
  if (begins(code, at, {0x48, 0x8b, 0x05}) && adds_fs_base(code, at + 7)) {
    int64_t offset = 0;  // mov word(%rip),%rax; add %fs:0,%rax
    const uint64_t word = begin + at + 7 + static_cast<uint64_t>(int64_t{number_at(code, at + 3)});
    return memory.read(word, &offset, sizeof offset) ? std::optional(offset) : std::nullopt;
  }
  if (begins(code, at, {0x48, 0xc7, 0xc0}) && adds_fs_base(code, at + 7))
    return number_at(code, at + 3);  // mov $offset,%rax; add %fs:0,%rax
  if (!begins(code, at, {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0})) return std::nullopt;
  at += 9;  // mov %fs:0,%rax; add $offset,%rax
  if (begins(code, at, {0x48, 0x83, 0xc0})) return static_cast<int8_t>(code[at + 3]);
  if (begins(code, at, {0x48, 0x05})) return number_at(code, at + 2);
  return std::nullopt;
}

}  // namespace dj
