// SPDX-License-Identifier: Apache-2.0
// The target may write to the word whatever it likes: it makes djtap look, and no more.
#include "runtime/session/doorbell.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace dj {
namespace {

long futex(uint64_t word, int what, uint32_t value, const timespec* most = nullptr) {
  return syscall(SYS_futex, reinterpret_cast<void*>(word), what, value, most, nullptr, 0);
}

}  // namespace

Doorbell::Doorbell(uint64_t word) : word_(word), fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ >= 0) thread_ = spare_thread([this] { listen(); });
}

// A change that comes between the look and the wait ends the wait at once.
void Doorbell::listen() {
  constexpr timespec kMost = {1, 0};
  const auto* const value = reinterpret_cast<const uint32_t*>(word_);
  for (uint32_t heard = __atomic_load_n(value, __ATOMIC_ACQUIRE); !ends_;) {
    futex(word_, FUTEX_WAIT, heard, &kMost);
    const uint32_t now = __atomic_load_n(value, __ATOMIC_ACQUIRE);
    if (now != heard) eventfd_write(fd_, 1);
    heard = now;
  }
}

// The thread may be on its way into the wait.
Doorbell::~Doorbell() {
  constexpr timespec kMoment = {0, 100'000};
  ends_ = true;
  while (thread_ && !thread_->has_ended()) {
    futex(word_, FUTEX_WAKE, 1);
    nanosleep(&kMoment, nullptr);
  }
  if (thread_) thread_->join();
  if (fd_ >= 0) close(fd_);
}

void Doorbell::answer() {
  eventfd_t rung = 0;
  eventfd_read(fd_, &rung);
}

}  // namespace dj
