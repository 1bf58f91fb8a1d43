// SPDX-License-Identifier: Apache-2.0
// gs bases by ptrace: the kernel keeps them, a thread copies its parent's when it starts, signals
// and system calls leave them alone, and an exec clears them.
#include "runtime/memory/thread_rows.h"

#include <sys/auxv.h>

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

// No handler runs yet, so djtap knows which rows are free without asking the arena.
Status give_rows(const Stopped& stopped, const Layout& layout) {
  const ArenaView arena(layout.base, layout.bytes);
  const uint64_t rows = layout.header.thread_rows.address(layout.arena());
  arena.store<uint64_t>(layout.base + offsetof(abi::Header, thread_row_count), layout.thread_rows);
  uint32_t next = 1;
  for (pid_t tid : stopped.threads()) {
    const uint32_t row = next < layout.thread_rows ? next++ : 0;  // 0: all who find none
    if (row != 0)
      arena.store<uint32_t>(rows + offsetof(abi::ThreadRows, owner) + sizeof(uint32_t) * row,
                            static_cast<uint32_t>(tid));
    DJ_TRY_DO(set_gs_base(stopped, tid, uint64_t{row} << layout.header.counter_shift));
  }
  arena.store<uint32_t>(rows + offsetof(abi::ThreadRows, next), next);
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
