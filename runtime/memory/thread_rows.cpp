// SPDX-License-Identifier: Apache-2.0
// gs bases by ptrace: the kernel keeps them, a thread copies its parent's when it starts, signals
// and system calls leave them alone, and an exec clears them.
#include "runtime/memory/thread_rows.h"

#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runtime/process/untrusted.h"
#include "runtime/shared/thread_rows.h"

namespace dj {
namespace {

// The kernel's HWCAP2_FSGSBASE (asm/hwcap2.h).
constexpr unsigned long kFsGsBase = 2;

Status set_gs_base(const Stopped& stopped, pid_t tid, uint64_t base) {
  DJ_TRY(user_regs_struct regs, stopped.registers(tid));
  if (regs.gs_base == base) return ok_status();
  regs.gs_base = base;
  return stopped.set_registers(tid, regs);
}

}  // namespace

bool has_fsgsbase() { return (getauxval(AT_HWCAP2) & kFsGsBase) != 0; }

Result<bool> may_have_rows(const Stopped& stopped) {
  if (!has_fsgsbase()) return false;
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    if (regs.gs_base != 0 || regs.gs != 0) return false;
  }
  return true;
}

namespace {

bool is_gone(uint32_t tid) {
  return syscall(SYS_tkill, static_cast<int>(tid), 0) != 0 && errno == ESRCH;
}

// Changes the word from `before`; false: it was another one.
bool change(uint64_t word, uint32_t before, uint32_t after) {
  return __atomic_compare_exchange_n(reinterpret_cast<uint32_t*>(word), &before, after, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

// As take_thread_row() of the agent, with an end whatever the target writes there meanwhile. 0: no
// row was found, and the thread counts in the one of all who find none.
uint32_t take_row(const Layout& layout, uint32_t tid) {
  constexpr int kMostTries = 1000;
  const ArenaView arena(layout.base, layout.bytes);
  const uint64_t rows = layout.header.thread_rows.address(layout.arena());
  const uint64_t next = rows + offsetof(abi::ThreadRows, next),
                 owners = rows + offsetof(abi::ThreadRows, owner);
  for (int i = 0; i < kMostTries; ++i) {
    const uint32_t seen = arena.word<uint32_t>(next).number();
    if (seen >= layout.thread_rows) break;
    const uint32_t row = std::max<uint32_t>(seen, 1);
    if (!change(next, seen, row + 1)) continue;
    arena.store<uint32_t>(owners + sizeof(uint32_t) * row, tid);
    return row;
  }
  for (uint32_t row = 1; row < std::min<uint32_t>(layout.thread_rows, kMostTries); ++row) {
    const uint64_t word = owners + sizeof(uint32_t) * row;
    const uint32_t owner = arena.word<uint32_t>(word).number();
    if (owner != 0 && is_gone(owner) && change(word, owner, tid)) return row;
  }
  return 0;
}

}  // namespace

Status give_rows(const Stopped& stopped, const Layout& layout, uint64_t constants) {
  reinterpret_cast<abi::Header*>(constants)->thread_row_count = layout.thread_rows;
  for (pid_t tid : stopped.threads()) {
    const uint32_t row = take_row(layout, static_cast<uint32_t>(tid));
    DJ_TRY_DO(set_gs_base(stopped, tid, uint64_t{row} << layout.header.counter_shift));
  }
  return ok_status();
}

Status take_rows(const Stopped& stopped) {
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    // No program has its own data so low.
    if (regs.gs_base != 0 && regs.gs_base < kThreadRowsBytes) {
      DJ_TRY_DO(set_gs_base(stopped, tid, 0));
    }
  }
  return ok_status();
}

}  // namespace dj
