// SPDX-License-Identifier: Apache-2.0
// Blocks outside of the main heap in huge pages of their own: the largest ones, and large ones of
// threads, whose heaps have small pages.
#ifndef __SANITIZE_ADDRESS__

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "compiler/base/huge_heap.h"

namespace {

constexpr size_t kHugeBlock = dj::kHugePage / 2;  // a thread's, from here on

bool is_huge(size_t bytes) {
  return bytes >= kHugeBlock && (bytes >= dj::kOutsideHeap || gettid() != getpid());
}

}  // namespace

// Replace the library's (C++20, 17.6.3); its other forms of new and delete lead here.
void* operator new(size_t bytes) {
  const bool huge = is_huge(bytes);
  const size_t whole = (bytes + dj::kHugePage - 1) / dj::kHugePage * dj::kHugePage;
  void* block =
      huge ? std::aligned_alloc(dj::kHugePage, whole) : std::malloc(bytes != 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  if (huge) madvise(block, whole, MADV_HUGEPAGE);  // a wish: without it all works, slower
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

#endif
