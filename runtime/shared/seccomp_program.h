// SPDX-License-Identifier: Apache-2.0
// FilterProgram tells what a seccomp filter answers to a system call of which only the number is
// known. It runs the filter as the kernel does (classic BPF: linux/filter.h, linux/seccomp.h), but
// for all arguments and addresses at once: what depends on them is unknown, and both ways are gone
// where a jump does.
#pragma once
#include <stdint.h>

#include "runtime/shared/denied.h"

namespace dj::abi {

struct FilterInstruction {
  uint16_t code;
  uint8_t if_true, if_false;
  uint32_t k;
};
constexpr uint32_t kMostFilterInstructions = 4096;  // BPF_MAXINSNS

class FilterProgram {
 public:
  FilterProgram(const FilterInstruction* code, uint32_t length) : code_(code), length_(length) {}

  // Whether the filter lets the call with this number of x86-64 be made whatever its arguments are.
  // False also where the filter is too tangled to say, or is one that the kernel would refuse.
  bool allows(int64_t number) const {
    Path ways[kMostWays];  // small: a stack of the program's may be
    uint32_t count = 1, steps = 0;
    ways[0].begin();
    while (count > 0) {
      Path& way = ways[count - 1];
      if (way.at >= length_ || ++steps > kMostSteps) return false;
      const FilterInstruction& insn = code_[way.at++];
      const Word a = way.get(kA), with = (insn.code & kSourceX) != 0 ? way.get(kX) : Word{insn.k};
      switch (insn.code & kClass) {
        case kReturn:
          if (!is_allowing((insn.code & kReturnsA) != 0 ? a : Word{insn.k})) return false;
          --count;
          break;
        case kJump:
          if (!splits(a, with, insn)) {
            way.go(distance(a, with, insn));
            break;
          }
          if (count == kMostWays) return false;
          way.copy_to(ways[count]);
          ways[count++].go(insn.if_false);
          way.go(insn.if_true);
          break;
        case kAlu:
          // A division by zero ends the filter, and the process with it.
          if ((insn.code & kOperation) == kDivide && (!with.known || with.value == 0)) return false;
          way.set(kA, computed(a, with, insn.code & kOperation));
          break;
        default:
          move(way, insn, static_cast<uint32_t>(number));
      }
    }
    return true;
  }

  // Whether the answer may depend on the address that a call is made from.
  bool looks_at_address() const {
    constexpr uint16_t kLoad = 0x20;
    constexpr uint32_t kBegin = 8, kEnd = 16;  // of seccomp_data::instruction_pointer
    for (uint32_t i = 0; i < length_; ++i) {
      if (code_[i].code == kLoad && code_[i].k >= kBegin && code_[i].k < kEnd) return true;
    }
    return false;
  }

 private:
  static constexpr uint16_t kClass = 7, kJump = 5, kReturn = 6, kAlu = 4;
  static constexpr uint16_t kOperation = 0xf0, kDivide = 0x30, kNegate = 0x80;
  static constexpr uint16_t kSourceX = 8, kReturnsA = 0x10;
  static constexpr uint32_t kMostWays = 8, kMostSteps = 50'000;
  static constexpr uint32_t kWords = 16, kA = 16, kX = 17;  // scratch memory, then the registers
  static constexpr uint32_t kDataBytes = 64;                // of struct seccomp_data

  struct Word {
    uint32_t value = 0;
    bool known = true;
  };
  // How far the filter has come, and with what.
  struct Path {
    uint32_t at, unknown;  // bit i: words[i]
    uint32_t words[kWords + 2];

    void begin() {
      at = unknown = 0;
      for (uint32_t i = 0; i < kWords + 2; ++i) set(i, {0});
    }
    Word get(uint32_t i) const { return {words[i], (unknown >> i & 1) == 0}; }
    void set(uint32_t i, Word word) {
      words[i] = word.value;
      unknown = (unknown & ~(1u << i)) | (word.known ? 0u : 1u << i);
    }
    // By a call: string instructions would go by the program's direction flag (agent/bytes.cpp).
    void copy_to(Path& other) const {
      uint64_t bytes = sizeof other;
      asm volatile("" : "+r"(bytes));
      __builtin_memcpy(&other, this, bytes);
    }
    // A jump of 2^32 - 1 leads behind the end, too.
    void go(uint32_t distance) { at = at + distance < at ? ~0u : at + distance; }
  };

  static bool is_allowing(Word action) {
    constexpr uint32_t kActions = 0xffff0000, kAllow = 0x7fff0000, kLog = 0x7ffc0000;
    const uint32_t what = action.value & kActions;
    return action.known && (what == kAllow || what == kLog);
  }

  static bool splits(Word a, Word with, const FilterInstruction& insn) {
    const bool always = (insn.code & kOperation) == 0 || insn.if_true == insn.if_false;
    return !always && !(a.known && with.known);
  }

  static uint32_t distance(Word a, Word with, const FilterInstruction& insn) {
    bool taken = false;
    switch (insn.code & kOperation) {
      case 0x00:
        return insn.k;
      case 0x10:
        taken = a.value == with.value;
        break;
      case 0x20:
        taken = a.value > with.value;
        break;
      case 0x30:
        taken = a.value >= with.value;
        break;
      default:
        taken = (a.value & with.value) != 0;
    }
    return taken ? insn.if_true : insn.if_false;
  }

  static Word computed(Word a, Word with, uint16_t operation) {
    if (!a.known || (!with.known && operation != kNegate)) return {0, false};
    switch (operation) {
      case 0x00:
        return {a.value + with.value};
      case 0x10:
        return {a.value - with.value};
      case 0x20:
        return {a.value * with.value};
      case kDivide:
        return {a.value / with.value};
      case 0x40:
        return {a.value | with.value};
      case 0x50:
        return {a.value & with.value};
      case 0x60:
        return {a.value << with.value % 32};
      case 0x70:
        return {a.value >> with.value % 32};
      case kNegate:
        return {0 - a.value};
      default:
        return {a.value ^ with.value};
    }
  }

  // Loads, stores, and from one register to the other.
  static void move(Path& way, const FilterInstruction& insn, uint32_t number) {
    constexpr uint32_t kArchitecture = 0xc000003e;  // AUDIT_ARCH_X86_64
    const uint32_t word = insn.k % kWords;
    switch (insn.code) {
      case 0x00:
        return way.set(kA, {insn.k});
      case 0x01:
        return way.set(kX, {insn.k});
      case 0x02:
        return way.set(word, way.get(kA));
      case 0x03:
        return way.set(word, way.get(kX));
      case 0x07:
        return way.set(kX, way.get(kA));
      case 0x20:  // of struct seccomp_data: number, architecture, and what is not known
        return way.set(kA, {insn.k == 0 ? number : kArchitecture, insn.k <= 4});
      case 0x60:
        return way.set(kA, way.get(word));
      case 0x61:
        return way.set(kX, way.get(word));
      case 0x80:
        return way.set(kA, {kDataBytes});
      case 0x81:
        return way.set(kX, {kDataBytes});
      case 0x87:
        return way.set(kA, way.get(kX));
      default:
        return;
    }
  }

  const FilterInstruction* code_;
  uint32_t length_;
};

// Of the calls of kAskedCalls, as asked_bit() has them, and kMovedCalls: those that a filter does
// not always allow, and those that strict mode does not know (it knows read, write, exit and
// rt_sigreturn).
inline uint64_t denied_by(const FilterProgram& filter) {
  uint64_t denied = filter.looks_at_address() ? kMovedCalls : 0;
  for (const int64_t number : kAskedCalls) {
    if (!filter.allows(number)) denied |= asked_bit(number);
  }
  return denied;
}
constexpr uint64_t denied_strictly() {
  uint64_t denied = 0;
  for (const int64_t number : kAskedCalls) {
    if (number != kReadCall && number != kSigreturnCall) denied |= asked_bit(number);
  }
  return denied;
}

}  // namespace dj::abi
