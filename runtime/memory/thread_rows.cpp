// gs bases by ptrace: the kernel keeps them, a thread copies its parent's when it starts, signals
// and system calls leave them alone, and an exec clears them.
#include "runtime/memory/thread_rows.h"

#include <sys/auxv.h>

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

Result<bool> may_have_rows(const Stopped& stopped) {
  if ((getauxval(AT_HWCAP2) & kFsGsBase) == 0) return false;
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    if (regs.gs_base != 0 || regs.gs != 0) return false;
  }
  return true;
}

Status give_rows(const Stopped& stopped, const Layout& layout) {
  abi::Header* header = reinterpret_cast<abi::Header*>(layout.base);
  abi::ThreadRows* rows = abi::thread_rows(header);
  abi::store(&rows->count, layout.thread_rows);
  for (pid_t tid : stopped.threads()) {
    const uint64_t row =
        abi::take_thread_row(rows, static_cast<uint32_t>(tid), [](uint32_t) { return false; });
    DJ_TRY_DO(set_gs_base(stopped, tid, row << header->counter_shift));
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
