// SPDX-License-Identifier: Apache-2.0
// The kernel counts a mapping against RLIMIT_MEMLOCK when it is made, and when a locked one grows.
// So one page is mapped and unlocked, and grows.
#include "runtime/process/remote_map.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <fstream>
#include <optional>

#include "compiler/base/page.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

constexpr uint64_t kUserEnd = 0x7ffffffff000;

bool is_possible(const RemoteMapping& wanted, uint64_t address) {
  const bool is_wanted = wanted.address == 0 || wanted.address == address;
  return is_wanted && address % kPage == 0 && address < kUserEnd &&
         wanted.bytes <= kUserEnd - address;
}

bool failed(int64_t result) { return result < 0 && result > -4096; }

Result<int64_t> map_once(RemoteCall& call, const RemoteMapping& m, uint64_t bytes) {
  return call.syscall(SYS_mmap, {m.address, bytes, m.protection, m.flags, m.fd, m.offset});
}

Result<int64_t> map_growing(RemoteCall& call, const RemoteMapping& m) {
  DJ_TRY(int64_t at, map_once(call, m, kPage));
  if (failed(at)) return at;
  const auto address = static_cast<uint64_t>(at);
  DJ_TRY_DO(call.syscall(SYS_munlock, {address, kPage}));
  const uint64_t how = m.address != 0 ? 0 : MREMAP_MAYMOVE;
  DJ_TRY(int64_t grown, call.syscall(SYS_mremap, {address, kPage, m.bytes, how}));
  if (failed(grown)) DJ_TRY_DO(call.syscall(SYS_munmap, {address, kPage}));
  return grown;
}

// "its limit of data (RLIMIT_DATA) is 976 kB, of which 512 kB are used and 9000 kB more are
// wanted"; empty: it is not that.
std::string over_limit(pid_t pid, __rlimit_resource resource, const char* name, uint64_t used_kb,
                       uint64_t bytes) {
  rlimit limit = {};
  if (prlimit(pid, resource, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  const uint64_t wanted_kb = bytes / 1024, limit_kb = limit.rlim_cur / 1024;
  if (used_kb + wanted_kb <= limit_kb) return "";
  return fmt::format("its limit of {} is {} kB, of which {} kB are used and {} kB more are wanted",
                     name, limit_kb, used_kb, wanted_kb);
}

std::string of_kernel(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

// Why the kernel has no such mapping for the process; empty: it does not tell.
std::string why_not(pid_t pid, const RemoteMapping& m, int number) {
  const Result<ProcessStatus> status = read_status(pid);
  if (!status.ok()) return "";
  if (number == EAGAIN)
    return over_limit(pid, RLIMIT_MEMLOCK, "locked memory (RLIMIT_MEMLOCK)",
                      status.value().locked_kb, m.bytes);
  if (number != ENOMEM) return "";
  std::string why = limit_reached(pid, m);
  if (why.empty() && of_kernel("/proc/sys/vm/overcommit_memory") == "2")
    return "vm.overcommit_memory is 2, and the system has promised what it has";
  return why;
}

Error with_reason(pid_t pid, const char* what, int number, const std::string& why) {
  Error error = os_error(fmt::format("{} in process {}", what, pid), number);
  if (!why.empty()) error.message += fmt::format(" ({})", why);
  return error;
}

}  // namespace

std::string limit_reached(pid_t pid, const RemoteMapping& m) {
  const Result<ProcessStatus> status = read_status(pid);
  if (!status.ok()) return "";
  const ProcessStatus& s = status.value();
  std::string why =
      over_limit(pid, RLIMIT_AS, "address space (RLIMIT_AS, ulimit -v)", s.size_kb, m.bytes);
  const bool is_data = (m.protection & PROT_WRITE) != 0 && (m.flags & MAP_PRIVATE) != 0;
  if (why.empty() && is_data)
    why = over_limit(pid, RLIMIT_DATA, "data (RLIMIT_DATA, ulimit -d)", s.data_kb, m.bytes);
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  const std::string most = of_kernel("/proc/sys/vm/max_map_count");
  if (why.empty() && maps.ok() && !most.empty() && maps.value().size() + 1 >= std::stoull(most))
    why = fmt::format("it has {} mappings, the most that vm.max_map_count lets it have",
                      maps.value().size());
  return why;
}

Result<uint64_t> map_in(RemoteCall& call, const char* what, const RemoteMapping& wanted) {
  const pid_t pid = call.stopped().pid();
  // All that is mapped would be locked, or may be: of a program that locks nothing it is not.
  const bool may_lock = wanted.bytes > kPage && call.locks_memory();
  DJ_TRY(int64_t at, may_lock ? map_growing(call, wanted) : map_once(call, wanted, wanted.bytes));
  if (at == -EAGAIN && !may_lock && wanted.bytes > kPage) {  // it locks what will come
    DJ_TRY(at, map_growing(call, wanted));
  }
  if (failed(at)) {
    const int number = static_cast<int>(-at);
    return with_reason(pid, what, number, why_not(pid, wanted, number));
  }
  const auto address = static_cast<uint64_t>(at);
  if (is_possible(wanted, address)) return address;
  return Error{fmt::format("{} in process {}: the kernel has mapped it elsewhere, at {:#x}", what,
                           pid, address)};
}

}  // namespace dj
