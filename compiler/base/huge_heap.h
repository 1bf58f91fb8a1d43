// SPDX-License-Identifier: Apache-2.0
// The heap's first bytes in huge pages, where the system has them to give. Sessions of many sites
// fill a hundred megabytes within some hundred milliseconds, and a page fault for each 4 KiB of
// them was a fifth of that time.
#pragma once
#include <cstddef>

namespace dj {

constexpr size_t kHugePage = 2 << 20;
// Blocks of as many bytes lie outside of the heap.
constexpr size_t kOutsideHeap = 32 << 20;  // the most that M_MMAP_THRESHOLD can be

// The heap's next 256 MB; until they are written they are only addresses. Call first, before
// there are threads.
void begin_huge_heap();

// Gives the first `bytes` of these their memory, in another thread: a page that is there already
// need not be waited for. For those who are about to fill them. Never fails: it is only sooner.
void fill_huge_heap(size_t bytes);

}  // namespace dj
