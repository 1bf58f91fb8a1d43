// SPDX-License-Identifier: Apache-2.0
// Whether code changes the gs base, which djtap uses for rows of counters
// (runtime/shared/thread_rows.h).
#pragma once
#include <cstdint>
#include <span>

namespace dj::arch {

// The bytes of a wrgsbase (Intel SDM vol. 2: f3 [REX.W] 0f ae /3, register operand) are in `text`,
// whatever they are there.
bool has_wrgsbase(std::span<const uint8_t> text);

}  // namespace dj::arch
