// SPDX-License-Identifier: Apache-2.0
// has_wrgsbase() finds code that may change the gs base, which djtap uses for rows of counters
// (runtime/shared/thread_rows.h).
#pragma once
#include <cstdint>
#include <span>

namespace dj::arch {

// Whether `text` has the bytes of a wrgsbase (Intel SDM vol. 2: f3 [REX.W] 0f ae /3, register
// operand). They may be part of another instruction.
bool has_wrgsbase(std::span<const uint8_t> text);

}  // namespace dj::arch
