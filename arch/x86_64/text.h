// SPDX-License-Identifier: Apache-2.0
// ModuleText holds everything that the safety checks need to know about one module's machine code.
// It is plain data. compiler/debuginfo fills it from the file, never from the process. Addresses
// are ELF virtual addresses.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dj::arch {

// TextRange is the bytes [address, address + bytes.size()); ModuleText::kept owns them.
struct TextRange {
  uint64_t address = 0;
  std::span<const uint8_t> bytes;
};

// Returns the bytes from `address` to the end of its range; empty: no range has it.
inline std::span<const uint8_t> bytes_at(const std::vector<TextRange>& ranges, uint64_t address) {
  for (const TextRange& range : ranges) {
    const uint64_t offset = address - range.address;
    if (offset < range.bytes.size()) return range.bytes.subspan(offset);
  }
  return {};
}

// FunctionRange is a function's instructions, [begin, end), from a symbol or from .eh_frame. Lists
// of them are sorted; aliases may nest them, and they never overlap in part.
struct FunctionRange {
  uint64_t begin = 0, end = 0;
};

// Space names the addresses where no detour can lie: below `low`, inside the module, above `high`.
struct Space {
  uint64_t low = 0, image_begin = 0, image_end = 0, high = 0;
};

// Whether an address is of the kernel's half. Code there is a kernel's, and so is all that checks
// know of a kernel: it may begin functions with the nop of its tracer, and 32 bits of an
// instruction mean the address that they are with their sign extended.
constexpr bool is_kernels(uint64_t address) { return address >> 63 != 0; }

// Returns the address of code that begins at `code` which 32 bits of an instruction mean: compilers
// extend the sign of a kernel's addresses, and add zeros to a program's.
constexpr uint64_t widened(uint32_t bits, uint64_t code) {
  return is_kernels(code) ? uint64_t(int64_t(int32_t(bits))) : bits;
}

struct ModuleText {
  std::string path;
  bool position_independent = true;
  bool is_truncated = false;                // the file ends before parts that its headers name
  uint64_t image_begin = 0, image_end = 0;  // the file's mappings; no detour can lie there
  // Where detours can lie; empty: around the image. A kernel has a region for them.
  std::optional<Space> code_space;
  std::vector<TextRange> text;
  std::vector<FunctionRange> functions;  // sorted by begin
  std::vector<uint64_t> named;           // functions that a symbol names; sorted
  std::vector<uint64_t> split_off;       // of these, parts of others unless code calls them; sorted
  std::vector<uint64_t> mid_frame;       // code that begins within a frame, by .eh_frame; sorted
  bool splits_blocks = false;            // some of those are blocks that push no word
  std::vector<uint64_t> pieces;  // blocks of functions that are code of their own, by name; sorted
  // (begin of a function, piece of it), if no other function has the piece's name; sorted
  std::vector<std::pair<uint64_t, uint64_t>> own_pieces;
  // From .gcc_except_table and a kernel's tables: where control goes though no instruction says so;
  // sorted.
  std::vector<uint64_t> landing_pads;
  // (begin of a function, landing pad of its calls outside of it), sorted
  std::vector<std::pair<uint64_t, uint64_t>> far_pads;
  std::vector<uint64_t> address_taken;  // code addresses in relocations, data words and
                                        // global symbols, sorted
  std::vector<FunctionRange>
      rseq_sections;  // critical sections from __rseq_cs / __rseq_cs_ptr_array
  // Words in front of the sections' abort addresses. They must hold the signature that the program
  // has registered, or the kernel ends the program.
  std::vector<FunctionRange> rseq_signatures;
  // Bytes that others find by their address or change while the code runs: instructions that a
  // kernel's tables name. They stay where and what they are; sorted, apart.
  std::vector<FunctionRange> fixed;
  // Code of other files that this one jumps to without a linkage table, as a kernel's modules do.
  std::vector<uint64_t> functions_outside;  // their begins; sorted
  // (thunk outside, the register that it jumps by), sorted. See thunks.h.
  std::vector<std::pair<uint64_t, uint8_t>> thunks_outside;
  std::vector<uint64_t> return_thunks;  // here or outside: a jump there is a return; sorted
  std::vector<TextRange> rodata;        // for jump tables
  std::vector<std::shared_ptr<const void>> kept;  // keeps the mapped file alive
};

}  // namespace dj::arch
