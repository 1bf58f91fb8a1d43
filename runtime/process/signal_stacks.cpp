// SPDX-License-Identifier: Apache-2.0
// Each thread is made to ask for its own alternate stack: the kernel tells no other process of it.
#include "runtime/process/signal_stacks.h"

#include <signal.h>
#include <sys/syscall.h>

#include "runtime/process/remote_call.h"
#include "runtime/process/restore_frame.h"

namespace dj {
namespace {

// What the program's handler and djtap's need beside the two frames, at least.
constexpr uint64_t kHandlersBytes = 1024;

}  // namespace

uint64_t least_signal_stack(const Stopped& stopped) {
  return 2 * signal_frame_bytes(stopped.threads().front()) + kHandlersBytes;
}

Result<uint64_t> small_signal_stack(Stopped& stopped, uint64_t least, uint64_t at) {
  uint64_t smallest = 0;
  if (stopped.is_fresh()) return smallest;
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped, tid));
    uint64_t place = at;
    if (at == 0) {
      DJ_TRY(place, call.scratch());
    }
    DJ_TRY_DO(call.checked("sigaltstack", SYS_sigaltstack, {0, place}));
    stack_t stack = {};
    DJ_TRY_DO(stopped.read(place, {reinterpret_cast<uint8_t*>(&stack), sizeof stack}));
    DJ_TRY_DO(call.give_back());
    const bool used = (stack.ss_flags & SS_DISABLE) == 0;
    if (used && stack.ss_size < least && (smallest == 0 || stack.ss_size < smallest))
      smallest = stack.ss_size;
  }
  return smallest;
}

}  // namespace dj
