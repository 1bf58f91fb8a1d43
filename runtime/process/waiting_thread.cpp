// SPDX-License-Identifier: Apache-2.0
// "202 0x7f0000001040 0x0 ..." in /proc/TID/syscall: the call's number, and its arguments.
#include "runtime/process/waiting_thread.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

enum class Waits : uint8_t { Here, NotYet, NotHere, Unknown };

// A wait that a stop has interrupted goes on as another call, with the same arguments
// (restart_syscall(2)).
bool is_wait(long number) { return number == SYS_futex || number == SYS_restart_syscall; }

Waits where_waits(int tid, uint64_t word) {
  std::ifstream file(fmt::format("/proc/{}/syscall", tid));
  std::string number, address;
  if (!(file >> number)) return start_time(tid) ? Waits::Unknown : Waits::NotHere;
  if (number == "running") return Waits::NotYet;
  if (!is_wait(atol(number.c_str())) || !(file >> address)) return Waits::NotHere;
  return strtoull(address.c_str(), nullptr, 16) == word ? Waits::Here : Waits::NotHere;
}

int search(uint64_t word, int own, uint64_t inode) {
  for (const pid_t pid : find_session_processes(inode)) {
    std::error_code error;
    for (const fs::directory_entry& task :
         fs::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
      const int tid = atoi(task.path().filename().c_str());
      if (own_numbers(tid).pid == own && where_waits(tid, word) == Waits::Here) return tid;
    }
  }
  return 0;
}

}  // namespace

int find_waiting_thread(uint64_t word, int own, uint64_t inode, int likely) {
  constexpr int kAwake = 10, kRounds = kAwake + 20, kSearches = 3;
  constexpr timespec kMoment = {0, 100'000};
  // It has rung before it waits: a moment before, mostly.
  for (int i = 0; i < kRounds && likely > 0; ++i) {
    const Waits waits = where_waits(likely, word);
    if (waits == Waits::Here || waits == Waits::Unknown) return likely;
    if (i < kAwake)
      sched_yield();
    else
      nanosleep(&kMoment, nullptr);
  }
  for (int i = 0; i < kSearches; ++i) {
    if (const int found = search(word, own, inode); found != 0) return found;
    nanosleep(&kMoment, nullptr);
  }
  // Of a busy machine's many threads it may be the one that has not come to its wait.
  return likely > 0 && where_waits(likely, word) != Waits::NotHere ? likely : 0;
}

}  // namespace dj
