// SPDX-License-Identifier: Apache-2.0
// A thread holds the word as if it were a robust mutex. The list that it gives to the kernel lies
// in djtap's own memory, where nobody else can change it, and names the word as a lock that the
// thread is about to take: the kernel looks at no more of it when the thread ends.
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
