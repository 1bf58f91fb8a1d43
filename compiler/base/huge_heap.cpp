// SPDX-License-Identifier: Apache-2.0
// A larger top of malloc's main heap, with MADV_HUGEPAGE.
#include "compiler/base/huge_heap.h"

#ifdef __SANITIZE_ADDRESS__
void dj::begin_huge_heap() {}
void dj::fill_huge_heap(size_t) {}
#else

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <thread>

namespace {

constexpr int kHeap = 256 << 20;
constexpr size_t kSmallPage = 4096;
uintptr_t heap_begin = 0, heap_end = 0;  // whole huge pages

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

// Writes to a page that is others', and changes nothing. MADV_POPULATE_WRITE would hold up all who
// map memory meanwhile.
void touch(uintptr_t page) {
  std::atomic_ref(*static_cast<uint8_t*>(pointer(page))).fetch_or(0, std::memory_order_relaxed);
}

}  // namespace

// malloc takes addresses for more than it was asked for (M_TOP_PAD) once; none are given back.
void dj::begin_huge_heap() {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(sbrk(0)) / page * page;
  mallopt(M_TRIM_THRESHOLD, -1);            // the heap never shrinks
  mallopt(M_MMAP_THRESHOLD, kOutsideHeap);  // what is freed is used again, with its pages
  mallopt(M_TOP_PAD, kHeap);
  void* volatile taken = std::malloc(256 << 10);  // more than what malloc still has
  std::free(taken);
  mallopt(M_TOP_PAD, 128 << 10);  // as before: near a memory limit it must not ask for so much
  const uintptr_t end = reinterpret_cast<uintptr_t>(sbrk(0));
  if (end > begin) madvise(pointer(begin), end - begin, MADV_HUGEPAGE);
  heap_begin = (begin + kHugePage - 1) / kHugePage * kHugePage;
  heap_end = end / kHugePage * kHugePage;
}

void dj::fill_huge_heap(size_t bytes) {
  const uintptr_t end = std::min<uintptr_t>(heap_begin + bytes, heap_end);
  const auto fill = [end] {
    const sched_param none = {};
    sched_setscheduler(0, SCHED_IDLE, &none);  // only what is left of processors
    for (uintptr_t at = heap_begin; at < end; at += kSmallPage) touch(at);
  };
  try {
    std::thread(fill).detach();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Near a limit there is no thread, or no memory for one; the heap works without.
  }
}

#endif
