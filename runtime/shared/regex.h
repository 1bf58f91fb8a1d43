// SPDX-License-Identifier: Apache-2.0
// regex.h lays out a compiled regular expression: a program for the matcher of the agent
// (agent/regex.cpp), carried in a Str: RegexHead, instructions, character classes of 32 bytes.
// compiler/regex writes it.
#pragma once
#include <stdint.h>

namespace dj::abi {

constexpr uint32_t kMaxRegexSteps = 512;  // instructions of one program
constexpr uint32_t kMaxRegexGroups = 10;  // the whole match and \1 to \9
constexpr uint32_t kNoMatch = ~0u;

enum RegexOp : uint16_t {
  kRegexByte,   // a: the byte
  kRegexAny,    // any byte
  kRegexClass,  // a: number of the class
  kRegexSplit,  // go on at a, or else at b
  kRegexJump,   // go on at a
  kRegexSave,   // slot a of the match = here
  kRegexBegin,  // only at the text's begin
  kRegexEnd,    // only at its end
  kRegexMatch,
};
struct RegexStep {
  uint16_t op, a, b;
};
struct RegexHead {
  uint16_t steps, groups;
};
constexpr uint32_t kRegexClassBytes = 32;  // bit c: the class has byte c

}  // namespace dj::abi
