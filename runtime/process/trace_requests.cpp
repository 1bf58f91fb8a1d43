// SPDX-License-Identifier: Apache-2.0
// The table: what is not in it, the broker does not do.
#include "runtime/process/trace_requests.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include <algorithm>
#include <iterator>

namespace dj {
namespace {

using Data = TraceRequest::Data;

// linux/ptrace.h, which does not go together with sys/ptrace.h.
constexpr int kGetRseqConfiguration = 0x420f, kGetDispatchConfig = 0x4211;
constexpr int kGetFilterRequest = 0x420c;
constexpr uint64_t kSuspendOption = 1 << 21;  // PTRACE_O_SUSPEND_SECCOMP
constexpr size_t kVectorState = 64 << 10, kFilterBytes = size_t{4096} * 8;

constexpr TraceRequest kRequests[] = {
    {PTRACE_SEIZE, Data::Options, 0, PTRACE_O_TRACESYSGOOD, true, false},
    {PTRACE_INTERRUPT, Data::None, 0, 0, true, false},
    {PTRACE_CONT, Data::Signal, 0, 0, false, true},
    {PTRACE_SYSCALL, Data::Signal, 0, 0, false, true},
    {PTRACE_DETACH, Data::Signal, 0, 0, false, true},
    {PTRACE_SETOPTIONS, Data::Options, 0, PTRACE_O_TRACESYSGOOD | kSuspendOption, false, false},
    {PTRACE_GETREGS, Data::Out, sizeof(user_regs_struct), 0, false, false},
    {PTRACE_SETREGS, Data::In, sizeof(user_regs_struct), 0, false, false},
    {PTRACE_GETREGSET, Data::Vector, kVectorState, 0, false, false},
    {PTRACE_GETSIGMASK, Data::Out, sizeof(uint64_t), 0, false, false},
    {PTRACE_SETSIGMASK, Data::In, sizeof(uint64_t), 0, false, false},
    {PTRACE_GETSIGINFO, Data::Out, sizeof(siginfo_t), 0, false, false},
    {PTRACE_SETSIGINFO, Data::In, sizeof(siginfo_t), 0, false, false},
    {PTRACE_PEEKSIGINFO, Data::Peek, sizeof(siginfo_t), 0, false, false},
    {PTRACE_GET_SYSCALL_INFO, Data::Out, sizeof(__ptrace_syscall_info), 0, false, false},
    {kGetRseqConfiguration, Data::Out, 24, 0, false, false},
    {kGetDispatchConfig, Data::Out, 32, 0, false, false},
    {kGetFilterRequest, Data::Filter, kFilterBytes, 0, false, false},
};

}  // namespace

const TraceRequest* trace_request(int request) {
  const TraceRequest* found =
      std::ranges::find(kRequests, request, [](const TraceRequest& each) { return each.request; });
  return found == std::end(kRequests) ? nullptr : found;
}

}  // namespace dj
