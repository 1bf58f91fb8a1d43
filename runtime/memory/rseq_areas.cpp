// SPDX-License-Identifier: Apache-2.0
// The kernel is asked in the thread itself: it registers an area for its caller alone.
#include "runtime/memory/rseq_areas.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/memory/session_end.h"
#include "runtime/process/remote_call.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

constexpr uint64_t kUnregister = 1;  // RSEQ_FLAG_UNREGISTER
constexpr uint32_t kUnregistered = ~0u;

template <typename T>
std::span<uint8_t> bytes_of(T& value) {
  return {reinterpret_cast<uint8_t*>(&value), sizeof value};
}

// False: the kernel has refused.
Result<bool> call_rseq(Stopped& stopped, pid_t tid, const RseqArea& area, uint64_t flags) {
  DJ_TRY(user_regs_struct regs, stopped.registers(tid));
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped, tid));
  const uint64_t at = regs.fs_base + static_cast<uint64_t>(area.offset);
  DJ_TRY(int64_t result, call.syscall(SYS_rseq, {at, area.bytes, flags, area.signature}));
  DJ_TRY_DO(call.give_back());
  return result == 0;
}

// The kernel does not write to this area, but may have done so for an earlier thread there.
Status mark_unregistered(const Stopped& stopped, uint64_t area) {
  constexpr uint64_t kCpuId = 4;  // of struct rseq
  uint32_t cpu = kUnregistered;
  if (!stopped.read(area + kCpuId, bytes_of(cpu)).ok() || static_cast<int32_t>(cpu) < 0)
    return ok_status();
  cpu = kUnregistered;
  return stopped.write(area + kCpuId, bytes_of(cpu));
}

// The part of the ThreadTable that says how areas are registered, and whose are shared.
struct Registration {
  RseqArea area;
  uint64_t shared[abi::kMostSharedAreas] = {};
};
static_assert(sizeof(RseqArea) ==
              offsetof(abi::ThreadTable, shared_areas) - offsetof(abi::ThreadTable, rseq_offset));
constexpr uint64_t kRegistration = offsetof(abi::ThreadTable, rseq_offset);

}  // namespace

Status check_control_blocks(const Stopped& stopped) {
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    uint64_t words[3] = {};  // tcb, dtv, self
    const bool there = stopped.read(regs.fs_base, bytes_of(words)).ok();
    if (there && words[0] == regs.fs_base && words[2] == regs.fs_base) continue;
    return Error{"thread " + std::to_string(tid) + " of process " + std::to_string(stopped.pid()) +
                     " has a control block that is not the C library's (CLONE_SETTLS): handlers " +
                     "cannot find out there how to count",
                 Fail::Unsupported};
  }
  return ok_status();
}

Status take_shared_areas(Stopped& stopped, uint64_t threads, const RseqArea& expected) {
  std::map<uint64_t, int> owners;  // by fs base
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    owners[regs.fs_base]++;
  }
  Registration now;
  if (expected.bytes != 0) now.area = expected;
  size_t count = 0;
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    DJ_TRY(std::optional<RseqArea> area, stopped.rseq(tid));
    if (area) now.area = *area;
    if (area && owners[regs.fs_base] > 1) {
      DJ_TRY(bool taken, call_rseq(stopped, tid, *area, kUnregister));
      if (taken && count < abi::kMostSharedAreas) now.shared[count++] = static_cast<uint64_t>(tid);
    } else if (!area && owners[regs.fs_base] == 1) {
      DJ_TRY_DO(mark_unregistered(stopped, regs.fs_base + static_cast<uint64_t>(expected.offset)));
    }
  }
  return stopped.write(threads + kRegistration, bytes_of(now));
}

Status return_shared_areas(Stopped& stopped, uint64_t threads, uint64_t inode) {
  Registration then;
  if (!has_not_ended(stopped.pid(), threads, inode)) return ok_status();
  DJ_TRY_DO(stopped.read(threads + kRegistration, bytes_of(then)));
  bool any = false;
  for (uint64_t& shared : then.shared) {
    const auto tid = static_cast<pid_t>(std::exchange(shared, 0));
    const std::vector<pid_t> now = stopped.threads();
    if (!std::binary_search(now.begin(), now.end(), tid)) continue;
    any = true;
    DJ_TRY(std::optional<RseqArea> area, stopped.rseq(tid));
    if (!area) DJ_TRY_DO(call_rseq(stopped, tid, then.area, 0));
  }
  return any ? stopped.write(threads + kRegistration, bytes_of(then)) : ok_status();
}

}  // namespace dj
