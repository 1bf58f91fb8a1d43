// SPDX-License-Identifier: Apache-2.0
// fs bases by ptrace. The program's own arch_prctl() replaces the one that is given here.
#include "runtime/memory/early_block.h"

#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

Status change_fs_base(const Stopped& stopped, uint64_t from, uint64_t to) {
  for (const pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    if (regs.fs_base != from) continue;
    regs.fs_base = to;
    DJ_TRY_DO(stopped.set_registers(tid, regs));
  }
  return ok_status();
}

}  // namespace

Status give_early_block(const Stopped& stopped, uint64_t threads) {
  const uint64_t base = abi::early_fs_base(threads);
  const uint64_t words[] = {base, 0, base};  // tcb, dtv, self
  DJ_TRY_DO(stopped.write(base, {reinterpret_cast<const uint8_t*>(words), sizeof words}));
  return change_fs_base(stopped, 0, base);
}

Status take_early_block(const Stopped& stopped, uint64_t threads) {
  return threads == 0 ? ok_status() : change_fs_base(stopped, abi::early_fs_base(threads), 0);
}

}  // namespace dj
