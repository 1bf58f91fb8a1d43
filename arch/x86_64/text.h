// SPDX-License-Identifier: Apache-2.0
// ModuleText: all that the safety checks want to know about one module's machine code. Plain data,
// filled by compiler/debuginfo from the file (never from the process), addresses are ELF virtual
// addresses.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dj::arch {

// Bytes [address, address + bytes.size()) where they lie: ModuleText::kept owns them.
struct TextRange {
  uint64_t address = 0;
  std::span<const uint8_t> bytes;
};

// From address to the end of its range; empty where there is none.
inline std::span<const uint8_t> bytes_at(const std::vector<TextRange>& ranges, uint64_t address) {
  for (const TextRange& range : ranges) {
    const uint64_t offset = address - range.address;
    if (offset < range.bytes.size()) return range.bytes.subspan(offset);
  }
  return {};
}

// A function's instructions, [begin, end), from a symbol or from .eh_frame. Sorted, may be nested
// by aliases, never partly overlapping.
struct FunctionRange {
  uint64_t begin = 0, end = 0;
};

// Addresses where no detour can lie: below `low`, inside the module, above `high`.
struct Space {
  uint64_t low = 0, image_begin = 0, image_end = 0, high = 0;
};

struct ModuleText {
  std::string path;
  bool position_independent = true;
  bool is_truncated = false;                // the file ends before parts that its headers tell of
  uint64_t image_begin = 0, image_end = 0;  // all that the file maps; no detour can lie there
  // Where detours can lie, if that is not simply around the image: a kernel has a region for them.
  std::optional<Space> code_space;
  std::vector<TextRange> text;
  std::vector<FunctionRange> functions;  // sorted by begin
  std::vector<uint64_t> named;           // functions that a symbol names; sorted
  std::vector<uint64_t> split_off;  // of these, parts of others, unless they are called; sorted
  std::vector<uint64_t> mid_frame;       // code that begins within a frame, by .eh_frame; sorted
  bool splits_blocks = false;            // some of those are blocks that nothing is pushed in
  std::vector<uint64_t> pieces;  // blocks of functions that are code of their own, by name; sorted
  // (begin of a function, piece of it), where no other function has its name; sorted
  std::vector<std::pair<uint64_t, uint64_t>> own_pieces;
  std::vector<uint64_t> landing_pads;  // from .gcc_except_table, sorted
  // (begin of a function, landing pad of its calls outside of it), sorted
  std::vector<std::pair<uint64_t, uint64_t>> far_pads;
  std::vector<uint64_t> address_taken;  // code addresses in relocations, data words and
                                        // global symbols, sorted
  std::vector<FunctionRange>
      rseq_sections;              // critical sections from __rseq_cs / __rseq_cs_ptr_array
  // Words in front of the sections' abort addresses: the kernel ends a program that has not there
  // what it has registered.
  std::vector<FunctionRange> rseq_signatures;
  std::vector<TextRange> rodata;  // for jump tables
  std::vector<std::shared_ptr<const void>> kept;  // the mapped file, as long as anyone looks at it
};

}  // namespace dj::arch
