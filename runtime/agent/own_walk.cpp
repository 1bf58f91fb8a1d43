// SPDX-License-Identifier: Apache-2.0
// Walks out of djtap's own code: of what a signal has interrupted, or of a gate that a handler of a
// fault was called through (fault_gates.h). The program's frame below is shown as it is without
// djtap.
#include "runtime/agent/own_frames.h"
#include "runtime/agent/stack_walk.h"

namespace dj::agent {
namespace {

constexpr uint64_t kWord = 8;

// FrameRow: what call frame information (DWARF 5, section 6.4) says of one place, as clang writes
// it for the agent: code in units of 1, data of -8, the frame behind the stack pointer at first.
class FrameRow {
 public:
  static constexpr uint32_t kColumns =
      17;                             // rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 ... r15, rip
  uint32_t base = 7, offset = kWord;  // of the frame's end: register and distance
  uint32_t saved[kColumns] = {};      // words below that; 0: not saved

  // False: something else is there.
  bool read(uint64_t description, uint64_t pc) {
    constexpr uint32_t kHead = 16;  // length, common information, begin, bytes
    const auto* words = reinterpret_cast<const int32_t*>(description);
    const uint64_t begin = description + 8 + static_cast<uint64_t>(int64_t{words[2]});
    const uint8_t* const end =
        reinterpret_cast<const uint8_t*>(description + 4 + static_cast<uint32_t>(words[0]));
    at_ = reinterpret_cast<const uint8_t*>(description + kHead);
    const uint64_t more = uleb();  // augmentation data
    at_ += more;
    place_ = begin;
    while (at_ < end && place_ <= pc) {
      if (!take()) return false;
    }
    return true;
  }

 private:
  uint64_t uleb() {
    uint64_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
      const uint8_t byte = *at_++;
      value |= uint64_t{byte & 127u} << shift;
      if (byte < 128) return value;
    }
  }
  uint64_t advance(uint32_t count) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++) value |= uint64_t{*at_++} << 8 * i;
    return value;
  }
  bool take() {
    const uint8_t code = *at_++, operand = code & 63;
    switch (code >> 6) {
      case 1:  // DW_CFA_advance_loc
        place_ += operand;
        return true;
      case 2: {  // DW_CFA_offset
        const auto below = static_cast<uint32_t>(uleb());
        if (operand < kColumns) saved[operand] = below;
        return true;
      }
      case 3:  // DW_CFA_restore
        if (operand < kColumns) saved[operand] = 0;
        return true;
    }
    return take_long(code);
  }
  bool take_long(uint8_t code) {
    switch (code) {
      case 0x00:  // DW_CFA_nop
        return true;
      case 0x02:  // DW_CFA_advance_loc1, 2, 4
      case 0x03:
      case 0x04:
        place_ += advance(1u << (code - 2));
        return true;
      case 0x0c:  // DW_CFA_def_cfa
        base = static_cast<uint32_t>(uleb());
        offset = static_cast<uint32_t>(uleb());
        return true;
      case 0x0d:  // DW_CFA_def_cfa_register
        base = static_cast<uint32_t>(uleb());
        return true;
      case 0x0e:  // DW_CFA_def_cfa_offset
        offset = static_cast<uint32_t>(uleb());
        return true;
      case 0x0a:  // DW_CFA_remember_state, restore_state
        kept_base_ = base, kept_offset_ = offset;
        for (uint32_t i = 0; i < kColumns; i++) kept_[i] = saved[i];
        return true;
      case 0x0b:
        base = kept_base_, offset = kept_offset_;
        for (uint32_t i = 0; i < kColumns; i++) saved[i] = kept_[i];
        return true;
      default:
        return false;
    }
  }

  const uint8_t* at_ = nullptr;
  uint64_t place_ = 0;  // that what follows is said of
  uint32_t kept_base_ = 0, kept_offset_ = 0, kept_[kColumns] = {};
};

// DWARF's numbers of the registers that are saved.
constexpr uint32_t kColumnOf[abi::kSavedRegisters] = {3, 6, 12, 13, 14, 15};
constexpr uint32_t kRspColumn = 7;

}  // namespace

bool StackWalk::leave_own_code() {
  constexpr uint32_t kMostFrames = 64;
  for (uint32_t i = 0; i < kMostFrames && is_own_code(pc_); i++) {
    if (exact_) pc_ = behind_stub(pc_);
    abi::DetourPlace detour;
    if (find_in_detours(place(), &detour)) {
      pc_ = detour.original;
      sp_ += detour.depth;
      exact_ = true;
    } else if (!step_in_own_code()) {
      return false;
    }
  }
  return true;
}

bool StackWalk::step_in_own_code() {
  const uint64_t description = find_description(place());
  if (description == 0) {
    // The kernel leaves an rseq critical section by a jump outside of its function (rseq.h).
    const uint64_t target = jump_target(pc_);
    if (target != 0) pc_ = target;
    return target != 0;
  }
  FrameRow row;
  if (!row.read(description, place())) return false;
  const uint64_t* base = row.base == kRspColumn ? &sp_ : nullptr;
  for (uint32_t i = 0; i < abi::kSavedRegisters; ++i) {
    if (kColumnOf[i] == row.base) base = &saved_[i];
  }
  if (base == nullptr) return false;
  const uint64_t end = *base + row.offset;
  uint64_t pc = 0;
  // Only where the frame is known by another register may it be on another stack, and lower.
  if ((row.base == kRspColumn && end <= sp_) || !read(end - kWord, &pc)) return false;
  for (uint32_t i = 0; i < abi::kSavedRegisters; ++i) {
    const uint32_t below = row.saved[kColumnOf[i]];
    if (below != 0 && !read(end - below * kWord, &saved_[i])) return false;
  }
  pc_ = pc;
  sp_ = end;
  exact_ = false;
  return true;
}

}  // namespace dj::agent
