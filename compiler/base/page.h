// SPDX-License-Identifier: Apache-2.0
// Pages of memory, as the kernel maps and protects them.
#pragma once
#include <cstdint>

namespace dj {

constexpr uint64_t kPage = 4096;
constexpr uint64_t page_down(uint64_t value) { return value & ~(kPage - 1); }
constexpr uint64_t page_up(uint64_t value) { return page_down(value + kPage - 1); }

}  // namespace dj
