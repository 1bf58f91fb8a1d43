// SPDX-License-Identifier: Apache-2.0
// SDT marks: probe points that a program's author put into it (sys/sdt.h, DTRACE_PROBE), as the
// notes in .note.stapsdt tell of them.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/debuginfo/object_file.h"
#include "compiler/stages/location.h"

namespace dj {

struct SdtMark {
  uint64_t address = 0;    // of its nop
  uint64_t semaphore = 0;  // 16-bit count of its users; 0: none
  std::string provider, name;
  std::vector<std::string> operands;  // "-4@%eax", as the compiler wrote them
};

std::vector<SdtMark> read_marks(const ObjectFile& elf);  // by address

// The value of an operand: "8@%rdi", "-4@$5", "1@-3(%rbp,%rax,2)", as a word of 64 bits, extended
// by zeros, or by the sign where *is_signed; of numbers with a fraction, "8f@%xmm0", the bits of a
// double. Fails with Unsupported for what names a symbol still (with_addresses), and for what is no
// operand at all.
Result<LocExpr> operand_value(const std::string& operand, bool* is_signed);

}  // namespace dj
