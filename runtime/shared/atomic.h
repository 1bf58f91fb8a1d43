// SPDX-License-Identifier: Apache-2.0
// atomic.h operates atomically on plain words in memory that several processes share. std::atomic
// needs a hosted library.
#pragma once
#include <stdint.h>

namespace dj::abi {

template <typename T>
inline T load(const T* p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
template <typename T>
inline void store(T* p, T value) {
  __atomic_store_n(p, value, __ATOMIC_RELEASE);
}
// The former value.
inline uint64_t add(uint64_t* p, uint64_t n) { return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST); }
inline uint32_t add(uint32_t* p, uint32_t n) { return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST); }
inline bool cas(uint64_t* p, uint64_t expected, uint64_t desired) {
  return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

// Two words, 16-byte aligned, changed together.
struct alignas(16) Pair {
  uint64_t first, second;
};
// On failure *expected becomes what is there. Written out because compilers call a library for it.
inline bool cas_pair(Pair* p, Pair* expected, Pair desired) {
  bool done;
  asm volatile("lock cmpxchg16b %[p]"
               : [p] "+m"(*p), "=@ccz"(done), "+a"(expected->first), "+d"(expected->second)
               : "b"(desired.first), "c"(desired.second)
               : "memory");
  return done;
}

}  // namespace dj::abi
