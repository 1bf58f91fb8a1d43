// Sessions of many sites fill a hundred megabytes within some hundred milliseconds, and a page
// fault for each 4 KiB of them was a fifth of that time. The heap begins with huge pages, and large
// blocks have their own.
#include "runtime/huge_blocks.h"

#ifdef __SANITIZE_ADDRESS__
void dj::begin_huge_heap() {}
#else

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
constexpr size_t kHugePage = 2 << 20;
constexpr size_t kHugeBlock = kHugePage / 2;  // from here on a block has huge pages of its own
constexpr int kHeap = 64 << 20;               // bytes; only addresses until somebody writes there
}  // namespace

// malloc takes addresses for more than it was asked for (M_TOP_PAD) once; none are given back.
void dj::begin_huge_heap() {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(sbrk(0)) / page * page;
  mallopt(M_TRIM_THRESHOLD, 2 * kHeap);
  mallopt(M_MMAP_THRESHOLD, kHugeBlock);
  mallopt(M_TOP_PAD, kHeap);
  void* volatile taken = std::malloc(256 << 10);  // more than what malloc still has
  std::free(taken);
  mallopt(M_TOP_PAD, 128 << 10);  // as before: near a memory limit it must not ask for so much
  const uintptr_t end = reinterpret_cast<uintptr_t>(sbrk(0));
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

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
