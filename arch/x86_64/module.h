// SPDX-License-Identifier: Apache-2.0
// Module: a ModuleText with the indexes that the checks ask all the time, and its functions decoded
// on demand.
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

// A function's instructions, decoded linearly from its first byte: never from the middle.
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

  // From address to the end of its text range; empty where there is no text.
  std::span<const uint8_t> bytes(uint64_t address) const { return bytes_at(text_.text, address); }
  bool is_text(uint64_t address) const { return !bytes(address).empty(); }
  // The outermost function around address; nullptr: none.
  const FunctionRange* function_at(uint64_t address) const;
  // All of them, gap functions too (gap_functions.h), sorted, none inside another.
  const std::vector<FunctionRange>& outermost() const { return outermost_; }
  bool begins_function(uint64_t address) const;
  // The code of nobody around address: from the end of the function before to the next one's begin.
  FunctionRange gap_at(uint64_t address) const;
  // Decodes from range.begin to its end, or to the first instruction that begins at `until` or
  // behind it; no further than to data between instructions, which shows by a branch past it.
  Function decode(const FunctionRange& range, uint64_t until = ~uint64_t(0)) const;
  // False: `address` is known to be in the middle of an instruction of this function, one of
  // outermost(). Cheap when asked again.
  bool may_be_instruction(const FunctionRange& function, uint64_t address) const {
    return starts_->may_be(*this, function, address);
  }
  // False: no instruction in the range jumps to an address in a register, or in memory by rsp or
  // rbp. Looks at bytes only.
  bool may_jump_by_register(const FunctionRange& range) const;

  // Padding that directly follows `address`, in bytes, no more than `wanted`: nops and int3 up to
  // the next instruction of `function` or, behind its end, also zeros up to the next function.
  uint32_t padding(const Function& function, uint64_t address, uint32_t wanted) const;
  // How functions are entered; found when first asked for, by any thread.
  const IncomingEdges& incoming() const;
  // A 32-bit entry of read-only data; false: no such data.
  bool read_entry(uint64_t address, int32_t& value) const;
  // First element of the sorted list in (after, before); 0: none.
  static uint64_t first_between(const std::vector<uint64_t>& sorted, uint64_t after,
                                uint64_t before);
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
