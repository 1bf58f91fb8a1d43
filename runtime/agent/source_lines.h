// SPDX-License-Identifier: Apache-2.0
// source_lines.h gives source lines and inlined calls of code addresses, by the session's
// StackTables.
#pragma once
#include "runtime/shared/strings.h"
#include "runtime/shared/unwind.h"

namespace dj::agent {

struct SourceLine {
  const abi::Str* file = nullptr;  // null: not known
  uint32_t line = 0;
};
// unwanted: as symbol_at() has it, here and below.
SourceLine line_at(uint64_t place, uint32_t unwanted);

// InlinedAt: the functions that were inlined at a place, innermost first.
class InlinedAt {
 public:
  InlinedAt(uint64_t place, uint32_t unwanted);
  // False: what comes now is the function itself; its line is line().
  bool next();
  const abi::Str* name() const;
  // Where that function stands: innermost at the place, the others at their calls.
  SourceLine line() const { return line_; }

 private:
  const abi::InlineCall* call(uint32_t number) const;

  const abi::StackTables* tables_;
  abi::StackModule module_;
  uint32_t now_ = 0, coming_ = 0;  // 1 + index; 0: the function itself
  SourceLine line_;
};

}  // namespace dj::agent
