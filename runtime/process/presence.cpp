// SPDX-License-Identifier: Apache-2.0
// A thread of djtap holds the word as if it were a robust mutex. It gives the kernel an empty list
// of held mutexes, and the word as the one that it is about to take. When the thread ends, the
// kernel looks at that word and at nothing else. The list lies in djtap's own memory, so a target
// cannot lead the kernel elsewhere.
#include "runtime/process/presence.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace dj {
namespace {

constexpr uint32_t kUnknownHolder = 1;

// The number that the word gets.
uint32_t give_to_kernel(robust_list_head& list) {
  const bool takes = syscall(SYS_set_robust_list, &list, sizeof list) == 0;
  return takes ? static_cast<uint32_t>(gettid()) : kUnknownHolder;
}

}  // namespace

Presence::Presence(uint32_t* word) {
  list_.list.next = &list_.list;  // it has no element
  list_.list_op_pending = reinterpret_cast<robust_list*>(word);
  std::binary_semaphore held{0};
  holder_ = spare_thread([this, word, &held] {
    __atomic_store_n(word, give_to_kernel(list_), __ATOMIC_SEQ_CST);
    held.release();
    over_.acquire();
  });
  if (holder_)
    held.acquire();
  else
    __atomic_store_n(word, kUnknownHolder, __ATOMIC_SEQ_CST);
}

}  // namespace dj
