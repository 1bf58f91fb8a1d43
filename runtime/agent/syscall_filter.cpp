// SPDX-License-Identifier: Apache-2.0
// What happens before a hooked system call. SIGTRAP must stay deliverable while int3 sites stand,
// so it is taken out of every mask, and the application's action for it is kept by us. A thread
// that is not registered with rseq must look so: vfork children share the parent's area, new
// threads may have a used one. A changed call is made here, with copies of its arguments: the
// program's registers and memory stay as they are.
#include "runtime/agent/executes.h"
#include "runtime/agent/frame.h"
#include "runtime/agent/rseq_area.h"
#include "runtime/agent/seccomp.h"
#include "runtime/agent/thread.h"
#include "runtime/agent/tracees.h"
#include "runtime/agent/user_memory.h"
#include "runtime/shared/own_code.h"
#include "runtime/shared/thread_rows.h"
#include "runtime/shared/trap.h"

using namespace dj;
using agent::arena;

using agent::copy_in, agent::copy_out;

namespace {

struct CallFrame {
  uint64_t rax, rdi, rsi, rdx, r10, r8, r9;
};

constexpr uint64_t kSigtrap = 5;
constexpr uint64_t kTrapBit = uint64_t{1} << (kSigtrap - 1);
constexpr uint64_t kMaskBytes = 8;
constexpr uint64_t kSigUnblock = 1;
constexpr uint32_t kStackDisabled = 2;  // SS_DISABLE
constexpr uint64_t kArchSetGs = 0x1001, kArchSetFs = 0x1002;

// Not a forked child, which djtap does not watch.
const abi::TrapTable* trap_table() { return arena()->trap_table.get_or_null(agent::place()); }

bool is_target() { return agent::kernel_process_id() == arena()->target_own_pid; }

// Makes the call with `*argument` pointing to a copy of the mask without SIGTRAP. False: the mask
// has none.
bool call_with_mask(CallFrame* frame, uint64_t CallFrame::* argument, uint64_t size) {
  uint64_t mask;
  if (frame->*argument == 0 || size != kMaskBytes || !copy_in(&mask, frame->*argument, kMaskBytes))
    return false;
  if ((mask & kTrapBit) == 0) return false;
  mask &= ~kTrapBit;
  CallFrame changed = *frame;
  changed.*argument = agent::word(&mask);
  frame->rax = static_cast<uint64_t>(agent::raw_syscall(static_cast<int64_t>(frame->rax),
                                                        changed.rdi, changed.rsi, changed.rdx,
                                                        changed.r10, changed.r8, changed.r9));
  return true;
}

// pselect6's last argument is a mask's address and size.
bool call_with_mask_pair(CallFrame* frame) {
  struct {
    uint64_t mask, size;
  } pair;
  if (frame->r9 == 0 || !copy_in(&pair, frame->r9, sizeof pair)) return false;
  uint64_t mask;
  if (pair.mask == 0 || pair.size != kMaskBytes || !copy_in(&mask, pair.mask, kMaskBytes))
    return false;
  if ((mask & kTrapBit) == 0) return false;
  mask &= ~kTrapBit;
  pair.mask = agent::word(&mask);
  frame->rax = static_cast<uint64_t>(agent::raw_syscall(agent::kSysPselect6, frame->rdi, frame->rsi,
                                                        frame->rdx, frame->r10, frame->r8,
                                                        agent::word(&pair)));
  return true;
}

// The application's own action for SIGTRAP is a record of ours, in the process's private memory; a
// vfork child, which has its parent's, only reads.
int64_t change_trap_action(const CallFrame* frame) {
  if (frame->r10 != kMaskBytes) return -agent::kEinval;
  abi::AppAction* known = agent::trap_action();
  abi::AppAction old = known != nullptr ? *known : abi::AppAction{}, wanted;
  if (frame->rsi != 0) {
    if (!copy_in(&wanted, frame->rsi, sizeof wanted)) return -agent::kEfault;
    if (known != nullptr && agent::owns_memory()) *known = wanted;
  }
  if (frame->rdx != 0 && !copy_out(frame->rdx, &old, sizeof old)) return -agent::kEfault;
  return 0;
}

bool filter_sigaction(CallFrame* frame) {
  if (static_cast<int32_t>(frame->rdi) == static_cast<int32_t>(kSigtrap)) {
    frame->rax = static_cast<uint64_t>(change_trap_action(frame));
    return true;
  }
  abi::AppAction wanted;
  if (frame->rsi == 0 || !copy_in(&wanted, frame->rsi, sizeof wanted)) return false;
  if ((wanted.mask & kTrapBit) == 0) return false;
  wanted.mask &= ~kTrapBit;
  frame->rax = static_cast<uint64_t>(agent::raw_syscall(
      agent::kSysRtSigaction, frame->rdi, agent::word(&wanted), frame->rdx, frame->r10));
  return true;
}

// Handlers of faults are reached through gates, and the program does not see these.
bool filter_fault_action(CallFrame* frame) {
  constexpr uint64_t kSigkill = 9;
  abi::ThreadTable* table = abi::thread_table_of(arena());
  abi::FaultGates* gates = table != nullptr ? &table->faults : nullptr;
  const auto signal = static_cast<int32_t>(frame->rdi);
  const bool own_trap = arena()->trap_table.is_set();
  if (gates == nullptr || gates->begin == 0 || !abi::is_fault(signal, own_trap) ||
      frame->r10 != kMaskBytes)
    return false;
  abi::AppAction wanted;
  if (frame->rsi != 0) {
    // The kernel reads the action before it refuses this signal. Where a filter looks at arguments
    // it is not asked, and the program's pointer is believed.
    const int64_t refused =
        agent::ask_kernel(agent::kSysRtSigaction, kSigkill, frame->rsi, 0, kMaskBytes);
    if (refused == -agent::kEfault) return false;
    wanted = *reinterpret_cast<const abi::AppAction*>(frame->rsi);
    wanted.handler = abi::gate_to(*gates, wanted.handler);
    if (own_trap) wanted.mask &= ~kTrapBit;
  }
  const int64_t result =
      agent::raw_syscall(agent::kSysRtSigaction, frame->rdi,
                         frame->rsi != 0 ? agent::word(&wanted) : 0, frame->rdx, kMaskBytes);
  if (result == 0 && frame->rdx != 0) {
    auto* before = reinterpret_cast<abi::AppAction*>(frame->rdx);
    before->handler = abi::handler_behind(*gates, before->handler);
  }
  frame->rax = static_cast<uint64_t>(result);
  return true;
}

void sleep_a_millisecond() {
  const struct {
    int64_t seconds, ns;
  } millisecond = {0, 1'000'000};
  agent::ask_kernel(agent::kSysNanosleep, agent::word(&millisecond), 0, 0, 0);
}

// djtap takes the places that trap out of the text first; why: stack_small of TrapTable. A forked
// child cannot wait for that: djtap does not watch it.
void await_no_traps(uint64_t why) {
  constexpr int kRounds = 1000;
  abi::TrapWords* words = trap_table()->words.get(agent::place());
  if (!is_target()) return;
  for (int i = 0; i < kRounds && abi::load(&words->trapless) == 0; ++i) {
    abi::store(&words->stack_small, why);
    sleep_a_millisecond();
  }
  abi::store(&words->trapless, uint64_t{1});  // also if djtap is dead: nobody waits again
}

// A stack on which no SIGTRAP has room behind another signal.
void prepare_stack(uint64_t wanted) {
  struct {
    uint64_t sp, flags, bytes;
  } stack;
  if (wanted == 0 || !copy_in(&stack, wanted, sizeof stack)) return;
  if ((stack.flags & kStackDisabled) != 0 || stack.bytes >= trap_table()->stack_least) return;
  await_no_traps(stack.bytes);
}

// The program is about to deny itself system calls: from here on handlers do without those. What
// they may remember they ask before.
bool filter_seccomp(CallFrame* frame) {
  const uint64_t denied = agent::denied_from(frame->rax, frame->rdi, frame->rsi, frame->rdx);
  if (denied == 0) return false;
  agent::thread_id(), agent::process_id();
  auto* table = abi::thread_table_of(arena());
  if (table == nullptr) return false;
  if (arena()->trap_table.is_set() && (denied & abi::asked_bit(agent::kSysRtSigreturn)) != 0)
    await_no_traps(abi::kNoSigreturn);
  // Other threads may install filters of their own meanwhile.
  const uint64_t added = denied & ~__atomic_fetch_or(&table->denied, denied, __ATOMIC_SEQ_CST);
  const int64_t result =
      agent::raw_syscall(static_cast<int64_t>(frame->rax), frame->rdi, frame->rsi, frame->rdx,
                         frame->r10, frame->r8, frame->r9);
  if (result < 0) __atomic_fetch_and(&table->denied, ~added, __ATOMIC_SEQ_CST);
  if (result >= 0) __atomic_fetch_or(&agent::words().denied, denied, __ATOMIC_SEQ_CST);
  frame->rax = static_cast<uint64_t>(result);
  return true;
}

// Is the process about to execute another program, as far as can be told? djtap traces the thread
// into the program, if it follows. Then the call is made here, since djtap must know of a failure;
// but not on a stack of djtap's: a vfork child, which has its parent's memory, would leave it
// taken.
bool filter_execute(CallFrame* frame) {
  constexpr int64_t kCurrentFolder = -100;  // AT_FDCWD
  const auto call = static_cast<uint32_t>(frame->rax);
  const bool is_at = call == agent::kSysExecveat;  // relative to any folder
  if (!is_at && (call != agent::kSysExecve || !agent::may_be_there(frame->rdi))) return false;
  const uint64_t path = is_at ? frame->rsi : frame->rdi;
  const bool stays = !agent::is_own_stack(agent::word(&call));
  abi::ExecWish* wish =
      agent::await_follower(path, is_at ? static_cast<int32_t>(frame->rdi) : kCurrentFolder,
                            stays ? abi::kExecAsks : abi::kExecLeaves);
  if (wish == nullptr) agent::note_execute(path);
  if (wish == nullptr || !stays) return false;
  frame->rax = static_cast<uint64_t>(
      agent::raw_syscall(call, frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8));
  agent::take_back(wish);
  return true;
}

// No thread that is traced by another may come to an int3.
bool filter_tracing(CallFrame* frame) {
  constexpr uint64_t kTraceMe = 0;  // PTRACE_TRACEME
  switch (static_cast<uint32_t>(frame->rax)) {
    case agent::kSysPtrace: {
      const int64_t result = frame->rdi == kTraceMe ? agent::ask_for_trace() : agent::kCallNotMade;
      if (result != agent::kCallNotMade) frame->rax = static_cast<uint64_t>(result);
      return result != agent::kCallNotMade;
    }
    case agent::kSysExecve:
      agent::trace_before_exec(frame->rdi);
      return false;
    case agent::kSysExecveat:
      agent::trace_before_exec(0);
      return false;
    default:
      return false;
  }
}

bool filter_masks(CallFrame* frame) {
  switch (static_cast<uint32_t>(frame->rax)) {
    case agent::kSysRtSigprocmask:
      return static_cast<uint32_t>(frame->rdi) != kSigUnblock &&
             call_with_mask(frame, &CallFrame::rsi, frame->r10);
    case agent::kSysRtSigaction:
      return filter_sigaction(frame);
    case agent::kSysSigaltstack:
      prepare_stack(frame->rdi);
      return false;
    case agent::kSysRtSigsuspend:
      return call_with_mask(frame, &CallFrame::rdi, frame->rsi);
    case agent::kSysPpoll:
      return call_with_mask(frame, &CallFrame::r10, frame->r8);
    case agent::kSysPselect6:
      return call_with_mask_pair(frame);
    case agent::kSysEpollPwait:
    case agent::kSysEpollPwait2:
      return call_with_mask(frame, &CallFrame::r8, frame->r9);
    default:
      return false;
  }
}

bool clone_arguments(const CallFrame* frame, agent::CloneArguments* args) {
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } asked;
  const auto call = static_cast<uint32_t>(frame->rax);
  if (call == agent::kSysClone) return *args = {frame->rdi, frame->r8}, true;
  if (call != agent::kSysClone3 || frame->rsi < sizeof asked) return false;
  return copy_in(&asked, frame->rdi, sizeof asked) && (*args = {asked.flags, asked.tls}, true);
}

bool may_share_memory(uint64_t number) {
  const auto call = static_cast<uint32_t>(number);
  return call == agent::kSysVfork || call == agent::kSysClone || call == agent::kSysClone3;
}

// Does the call start a thread or a process?
bool prepare_new_thread(const CallFrame* frame) {
  agent::CloneArguments args;
  switch (static_cast<uint32_t>(frame->rax)) {
    case agent::kSysFork:
      return true;
    case agent::kSysVfork:
      agent::mark_unregistered();
      return true;
    default:
      if (!may_share_memory(frame->rax)) return false;
      if (clone_arguments(frame, &args)) agent::prepare_clone(args);
      return true;
  }
}

// The thread gets another control block, beside which its rseq area will lie.
void prepare_block(const CallFrame* frame) {
  const bool sets_fs =
      static_cast<uint32_t>(frame->rax) == agent::kSysArchPrctl && frame->rdi == kArchSetFs;
  if (sets_fs) agent::mark_unregistered(frame->rsi);
}

// Does the call install a filter that would not know the places from which detours make the
// program's calls?
bool moves_calls(const CallFrame* frame) {
  const uint64_t denied = agent::denied_from(frame->rax, frame->rdi, frame->rsi, frame->rdx);
  return (denied & abi::kMovedCalls) != 0;
}

// Why the session must have ended before the call is made.
abi::EndReason end_wanted_by(const CallFrame* frame) {
  constexpr uint64_t kSetUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH; 0: off
  const bool has_rows = arena()->thread_row_count != 0;
  agent::CloneArguments args;
  switch (static_cast<uint32_t>(frame->rax)) {
    case agent::kSysArchPrctl:
      if (frame->rdi == kArchSetGs) return has_rows ? abi::kEndForGsBase : abi::kNoEnd;
      if (frame->rdi != kArchSetFs || !dj_has_rseq) return abi::kNoEnd;
      return agent::is_control_block(frame->rsi) ? abi::kNoEnd : abi::kEndForControlBlock;
    case agent::kSysPrctl:
      if (static_cast<uint32_t>(frame->rdi) == kSetUserDispatch && frame->rsi != 0)
        return abi::kEndForDispatch;
      return moves_calls(frame) ? abi::kEndForFilter : abi::kNoEnd;
    case agent::kSysSeccomp:
      return moves_calls(frame) ? abi::kEndForFilter : abi::kNoEnd;
    default:
      if (!dj_has_rseq || !clone_arguments(frame, &args)) return abi::kNoEnd;
      return agent::has_foreign_block(args) ? abi::kEndForControlBlock : abi::kNoEnd;
  }
}

// The call waits until djtap has ended the session. If that does not come (djtap was killed, or
// this is a forked child, which djtap does not watch), it is refused.
bool refuse_before_end(CallFrame* frame) {
  constexpr int kRounds = 5000;
  const abi::EndReason why = end_wanted_by(frame);
  if (why == abi::kNoEnd) return false;
  abi::ThreadTable* table = abi::thread_table_of(arena());
  const bool watched = is_target() && table != nullptr;
  if (watched) abi::store(&table->end_wanted, uint64_t{why});
  for (int i = 0; watched && i < kRounds && !agent::has_ended(); ++i) {
    abi::store(&agent::words().end_wanted, uint64_t{why});
    sleep_a_millisecond();
  }
  if (agent::has_ended()) return false;
  frame->rax = static_cast<uint64_t>(-agent::kEperm);
  return true;
}

// What dj_syscall_hook (trap_entry.S) tells the detour.
enum : uint32_t { kFilterMade, kFilterNothing, kFilterForks };

}  // namespace

// Made: frame->rax is the call's result. Forks: dj_child_hook is to run behind it.
extern "C" uint32_t dj_syscall_filter(CallFrame* frame) {
  const bool traps = arena()->trap_table.is_set();
  if (traps && may_share_memory(frame->rax)) agent::owns_memory();  // before others have it, too
  if (refuse_before_end(frame)) return kFilterMade;
  if (agent::has_ended()) return kFilterNothing;
  if (dj_has_rseq) prepare_block(frame);
  const bool forks = dj_has_rseq && prepare_new_thread(frame);
  if (filter_seccomp(frame)) return kFilterMade;
  const bool acts = static_cast<uint32_t>(frame->rax) == agent::kSysRtSigaction;
  if (acts && filter_fault_action(frame)) return kFilterMade;
  if (traps && (filter_tracing(frame) || filter_masks(frame))) return kFilterMade;
  if (filter_execute(frame)) return kFilterMade;
  return forks ? kFilterForks : kFilterNothing;
}

extern "C" void dj_own_row();  // thread_rows.cpp

// In whoever comes back with 0 from a call that starts a thread or process. A vfork child shares
// its parent's rseq area, where the kernel has written again if the parent lost the processor
// between prepare_new_thread() and the call. Now the parent waits in the call, and nobody writes.
// In the area of a forked child the kernel writes again soon; it does without meanwhile.
extern "C" void dj_child_begins() {
  if (agent::has_ended()) return;
  if (dj_has_rseq) agent::mark_unregistered();
  dj_own_row();
}
