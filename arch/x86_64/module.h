// SPDX-License-Identifier: Apache-2.0
// Module holds a ModuleText and the indexes that the checks use, and decodes its functions on
// demand.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "arch/x86_64/byte_set.h"
#include "arch/x86_64/decode.h"
#include "arch/x86_64/incoming_edges.h"
#include "arch/x86_64/instruction_starts.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

// Function holds a function's instructions, decoded linearly from its first byte, never from its
// middle.
struct Function {
  FunctionRange range;
  std::vector<Insn> insns;
  bool whole = false;  // decoding reached range.end exactly
  static constexpr size_t kNone = ~size_t(0);

  size_t find(uint64_t address) const;  // index of the instruction that starts there
  bool inside(uint64_t address) const { return address >= range.begin && address < range.end; }
  uint64_t decoded_end() const { return insns.empty() ? range.begin : insns.back().end(); }
};

class Module {
 public:
  explicit Module(ModuleText text);
  const ModuleText& text() const { return text_; }
  uint64_t low() const { return low_; }
  uint64_t high() const { return high_; }

  // Returns the bytes from `address` to the end of its text range; empty: no text is there.
  std::span<const uint8_t> bytes(uint64_t address) const { return bytes_at(text_.text, address); }
  bool is_text(uint64_t address) const { return !bytes(address).empty(); }
  // Returns the outermost function around `address`; nullptr: none.
  const FunctionRange* function_at(uint64_t address) const;
  // All outermost functions, gap functions too (gap_functions.h), sorted.
  const std::vector<FunctionRange>& outermost() const { return outermost_; }
  // Whether a function begins at `address`.
  bool begins_function(uint64_t address) const;
  // Returns the gap around `address`, code of no function: from the end of the function before it
  // to the begin of the next one.
  FunctionRange gap_at(uint64_t address) const;
  // Decodes from range.begin to its end, or to the first instruction that begins at `until` or
  // behind it. Stops before data between instructions; a branch past the data shows that it is
  // data.
  Function decode(const FunctionRange& range, uint64_t until = ~uint64_t(0)) const;
  // False: `address` is known to be in the middle of an instruction of this function. function: one
  // of outermost(). A second question about a function is cheap.
  bool may_be_instruction(const FunctionRange& function, uint64_t address) const {
    return starts_->may_be(*this, function, address);
  }
  // False: no instruction in the range jumps to an address in a register, or in memory by rsp or
  // rbp. Looks at bytes only.
  bool may_jump_by_register(const FunctionRange& range) const;

  // Returns how many bytes of padding directly follow `address`, `wanted` at most: nops and int3 up
  // to the next instruction of `function` or, behind its end, also zeros up to the next function.
  uint32_t padding(const Function& function, uint64_t address, uint32_t wanted) const;
  // The ways into functions. The first call finds them; any thread may call it.
  const IncomingEdges& incoming() const;
  // Reads a 32-bit entry of read-only data; false: no read-only data is there.
  bool read_entry(uint64_t address, int32_t& value) const;
  // Returns the first element of the sorted list in (after, before); 0: none.
  static uint64_t first_between(const std::vector<uint64_t>& sorted, uint64_t after,
                                uint64_t before);
  // Returns the begins of all functions, sorted.
  const std::vector<uint64_t>& function_begins() const { return begins_; }
  // rt_sigreturn trampolines: unwinders and gdb recognise them by their bytes.
  const std::vector<FunctionRange>& trampolines() const { return trampolines_; }

 private:
  void find_trampolines();
  void add_functions(const std::vector<FunctionRange>& more);  // none overlaps a known one

  ModuleText text_;
  std::vector<FunctionRange> outermost_;
  std::vector<uint64_t> begins_;
  std::vector<FunctionRange> trampolines_;
  uint64_t low_ = 0, high_ = 0;
  mutable std::optional<IncomingEdges> incoming_;
  std::unique_ptr<InstructionStarts> starts_ = std::make_unique<InstructionStarts>();
  std::unique_ptr<std::once_flag> incoming_asked_ = std::make_unique<std::once_flag>();
};

}  // namespace dj::arch
