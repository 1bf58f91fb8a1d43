// SPDX-License-Identifier: Apache-2.0
// The kernel restarts a call by the number that stands where its result will be.
#include "runtime/process/interrupted_call.h"

#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

namespace dj {
namespace {

constexpr int64_t kRestartNoHandler =
    -514;  // kernel's -ERESTARTNOHAND: restart unless a handler runs

bool never_restarts(uint64_t number) {
  switch (number) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_rt_sigtimedwait:
    case SYS_io_getevents:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool restart_interrupted(user_regs_struct& regs) {
  const auto result = static_cast<int64_t>(regs.rax), call = static_cast<int64_t>(regs.orig_rax);
  if (result != -EINTR || call < 0 || !never_restarts(regs.orig_rax)) return false;
  regs.rax = static_cast<uint64_t>(kRestartNoHandler);
  return true;
}

}  // namespace dj
