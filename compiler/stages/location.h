// SPDX-License-Identifier: Apache-2.0
// LocExpr: how to compute one target value at one site: a postfix program over 64-bit values, some
// of which may be of 128 bits on the way.
// DW_OP lists and C type navigation both become this; lower turns it into straight code.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/shared/wide_number.h"

namespace dj {

using abi::NumberForm;

// One step. The stack holds words of 64 bits and, between Join and Half, wide ones of 128; the
// result is the word on top at the end.
struct LocStep {
  enum Op : uint8_t {
    PushReg,    // a: DWARF register number at the site (x86-64: 0 rax 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi
                //    6 rbp 7 rsp 8..15 r8..r15; 17..32 xmm0..xmm15 or ymm; 33..40 st0..st7;
                //    118..125 k0..k7)
                // b: which 8 bytes of a larger one, 0 is the lowest; of st: mantissa, then sign and exponent
    PushConst,  // a: the word
    PushArg,    // a: index into TargetRef::args
    PushBias,   // load bias of the site's module (static addresses are ELF vaddrs plus this)
    PushFsBase, // thread pointer (variables in static TLS)
    PushCall,   // a: BuiltinId of a built-in "int()" without flags: what it returns now
    PushEntry,  // a: index into ReturnCapture::values; only in .return handlers. kEntryBase: of the
                // pointer that an @exit(...) begins with, until it has one; kEntryResult: of the
                // address that the caller gave for the result
    Deref,      // pop address, push a checked read of `a` bytes (1, 2, 4, 8), sign-extended if b
    StackDeref, // as Deref, but the address is provably in the current frame: read unchecked
    Add, Sub, Mul, Div, Mod, And, Or, Xor, Shl, Shr, Sar, Neg, Not,
    Eq, Ne, Lt, Le, Gt, Ge,             // push 0 or 1; these and Div, Mod: of unsigned words if a
    Dup, Drop, Swap, Over, Rot, Pick,   // Pick: a = depth
    Extract,    // pop word, push bits [a, a+b) of it; sign-extended if c
    Extend,     // pop word, keep its low a bytes; sign-extended if b
    DoubleOfFloat, DoubleOfInt,  // pop word, push the bits of the same number as a double; of an
                                 // unsigned one if a
    FloatOfDouble, IntOfDouble,  // and back: rounded to the nearest; cut, to an unsigned one if a
    DoubleCompute,      // pop two doubles' bits; a: Add .. Div: push a double's bits, Eq .. Ge: 0 or 1
    DoubleOfExtended,  // pop sign and exponent, pop mantissa of an x87 number, push the double
    Join,         // pop high word, pop low word, push them as a wide one
    Half,         // pop wide word, push its low (a: 0) or high one
    Convert,      // pop a number of NumberForm a, push the same number as b
    WideCompute,  // pop two wide words of NumberForm b; a: Add .. Sar: push one, Eq .. Ge: 0 or 1
    // Where the stack is the same whichever way one comes. A label's number may stand in a list
    // twice: a jump means the next one, or if b the last one before it, which it does at most
    // kMaxRounds times.
    Label,         // a: its number
    Jump, JumpIf,  // a: a label's number; b: backwards. JumpIf: pop word, jump where it is not 0
  } op;
  int64_t a = 0, b = 0, c = 0;
  bool operator==(const LocStep&) const = default;
};

// Does the step's result depend on whether its words have a sign?
constexpr bool divides_or_orders(LocStep::Op op) {
  return op == LocStep::Div || op == LocStep::Mod || (op >= LocStep::Lt && op <= LocStep::Ge);
}

constexpr bool is_jump(LocStep::Op op) { return op == LocStep::Jump || op == LocStep::JumpIf; }

constexpr int64_t kMaxRounds = 4096;

constexpr int64_t kEntryBase = -1, kEntryReference = -2;  // the latter: a C++ reference
constexpr int64_t kEntryResult = -3;

struct LocExpr {
  std::vector<LocStep> steps;
  bool is_double = false;  // the result is the bits of a double
  bool is_pointer = false;
  bool operator==(const LocExpr&) const = default;
};

// "reg5 deref4s +8 ..." for dumps and goldens.
std::string to_string(const LocExpr& expr);

}  // namespace dj
