// Memory of djtap's own process. Sessions of many sites fill a hundred megabytes within some
// hundred milliseconds, and a page fault for each 4 KiB of them was a fifth of that time: large
// blocks take huge pages.
#ifndef __SANITIZE_ADDRESS__

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace {
constexpr size_t kHugePage = 2 << 20;
constexpr size_t kHugeBlock = 2 * kHugePage;  // from here on a block has huge pages of its own
}  // namespace

// Replace the library's (C++20, 17.6.3); its other forms of new and delete lead here.
void* operator new(size_t bytes) {
  const bool huge = bytes >= kHugeBlock;
  const size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* block = huge ? std::aligned_alloc(kHugePage, whole) : std::malloc(bytes != 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  if (huge) madvise(block, whole, MADV_HUGEPAGE);  // a wish: without it all works, slower
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

#endif
