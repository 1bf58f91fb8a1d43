// SPDX-License-Identifier: Apache-2.0
// copy_descriptor() calls pidfd_getfd() for one thread. Both sides of the broker use it (tracer.h,
// broker_server.h).
#pragma once
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

namespace dj {

// Returns djtap's own copy of descriptor `fd` of thread `tid` of the process, like
// take_descriptor() of tracer.h, but by the caller's own rights. -1: errno says why.
inline int copy_descriptor(pid_t pid, pid_t tid, int fd) {
  constexpr unsigned kThread = O_EXCL;  // PIDFD_THREAD
  long pidfd = syscall(SYS_pidfd_open, tid, kThread);
  if (pidfd < 0) pidfd = syscall(SYS_pidfd_open, pid, 0);
  if (pidfd < 0) return -1;
  const long own = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
  const int number = errno;
  close(static_cast<int>(pidfd));
  errno = number;
  return static_cast<int>(own);
}

}  // namespace dj
