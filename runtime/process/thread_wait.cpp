// SPDX-License-Identifier: Apache-2.0
// waitpid and waitid.
#include "runtime/process/thread_wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "runtime/process/session_processes.h"
#include "runtime/process/tracer.h"

namespace dj {

pid_t wait_thread(pid_t tid, pid_t pid, int* status) {
  if (tid != pid || is_traced_by_broker(tid)) return wait_status(tid, status, __WALL);
  siginfo_t info = {};
  if (wait_info(tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) != 0) return -1;
  if (info.si_pid == 0) return 0;
  if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
    if (parent_of(pid) != getpid()) return wait_status(tid, status, __WALL);
    errno = ECHILD;
    return -1;
  }
  info = {};
  if (wait_info(tid, &info, WSTOPPED | __WALL) != 0) return -1;
  *status = info.si_status << 8 | 0x7f;  // as waitpid() has it (W_STOPCODE)
  return info.si_pid;
}

bool has_news(pid_t tid) {
  siginfo_t info = {};
  return wait_info(tid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL) != 0 || info.si_pid != 0;
}

bool is_starved(pid_t pid, pid_t tid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("State:")) return line.find('R') != std::string::npos;
  }
  return false;
}

}  // namespace dj
