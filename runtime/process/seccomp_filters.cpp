// SPDX-License-Identifier: Apache-2.0
// PTRACE_SECCOMP_GET_FILTER, filter by filter; those that threads share are run once.
#include "runtime/process/seccomp_filters.h"

#include <linux/filter.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/process/process.h"
#include "runtime/process/tracer.h"
#include "runtime/shared/seccomp_program.h"

namespace dj {
namespace {

static_assert(sizeof(sock_filter) == sizeof(abi::FilterInstruction));

constexpr int kGetFilter = 0x420c;  // PTRACE_SECCOMP_GET_FILTER
enum Mode { kFree, kStrict, kFilter };

Mode mode_of(pid_t tid) {
  constexpr std::string_view kField = "Seccomp:\t";
  std::ifstream file("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kField)) return static_cast<Mode>(line[kField.size()] - '0');
  }
  return kFree;
}

// The denied calls of filters that have been run, by their bytes. A program may have any number of
// filters: there is an end to what djtap reads while its threads stand.
struct Known {
  std::map<std::string, uint64_t> denied;
  size_t reads = 0;

  bool is_full() const {
    constexpr size_t kMostDifferent = 256, kMostReads = 65'536;
    return denied.size() > kMostDifferent || reads > kMostReads;
  }
};

uint64_t denied_by(const std::vector<abi::FilterInstruction>& code, Known& known) {
  const std::string bytes(reinterpret_cast<const char*>(code.data()), code.size() * sizeof code[0]);
  const auto [found, is_new] = known.denied.try_emplace(bytes);
  if (is_new) found->second = abi::denied_by({code.data(), static_cast<uint32_t>(code.size())});
  return found->second;
}

Result<uint64_t> denied_to(pid_t pid, pid_t tid, Known& known) {
  uint64_t denied = 0;
  for (uint64_t index = 0;; ++index) {
    const long length = trace(kGetFilter, tid, index, nullptr);
    if (length < 0 && errno == ENOENT && index > 0) return denied;
    std::vector<abi::FilterInstruction> code(static_cast<size_t>(std::max(length, 0L)));
    if (length <= 0 || trace(kGetFilter, tid, index, code.data()) != length) {
      return Error{"process " + std::to_string(pid) +
                       " runs under a seccomp filter that cannot be read (" + strerror(errno) +
                       "): it might kill the process for the system calls that djtap and handlers "
                       "make in it; djtap reads and suspends filters as root, when it runs under "
                       "none itself",
                   Fail::Permission};
    }
    denied |= denied_by(code, known);
    ++known.reads;
    if (known.is_full())
      return Error{"process " + std::to_string(pid) + " has more seccomp filters than djtap reads",
                   Fail::Unsupported};
  }
}

}  // namespace

bool is_confined(pid_t tid) { return mode_of(tid) != kFree; }

bool has_confined_threads(pid_t pid) { return std::ranges::any_of(live_threads(pid), is_confined); }

Result<uint64_t> denied_by_filters(const Stopped& stopped) {
  uint64_t denied = 0;
  Known known;
  for (const pid_t tid : stopped.threads()) {
    if (!stopped.is_confined(tid)) continue;
    const Mode mode = mode_of(tid);
    if (mode == kStrict) denied |= abi::denied_strictly();
    if (mode != kFilter) continue;
    DJ_TRY(const uint64_t of_thread, denied_to(stopped.pid(), tid, known));
    denied |= of_thread;
  }
  if ((denied & abi::kMovedCalls) != 0) {
    return Error{"process " + std::to_string(stopped.pid()) +
                     " runs under a seccomp filter that looks at the addresses of system calls: it "
                     "might kill the process for calls that detours move",
                 Fail::Unsupported};
  }
  return denied;
}

}  // namespace dj
