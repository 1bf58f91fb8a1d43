// SPDX-License-Identifier: Apache-2.0
// fill_fresh_pages() writes into memory that djtap has mapped and not touched yet. By
// /proc/self/mem the kernel makes all pages in one call; page by page, as a copy does it, each is a
// fault, which costs several times as much, and twenty times in a virtual machine.
#pragma once
#include <cstdint>
#include <span>

namespace dj {

// Copies `bytes` to the begin of `memory`, which is as large at least.
void fill_fresh_pages(std::span<uint8_t> memory, std::span<const uint8_t> bytes);

}  // namespace dj
