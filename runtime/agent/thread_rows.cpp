// SPDX-License-Identifier: Apache-2.0
// A new thread, or a forked child, gets a row of its own to count in (thread_rows.h).
#include "runtime/shared/thread_rows.h"

#include "runtime/agent/arena.h"
#include "runtime/agent/thread.h"

using namespace dj;
using agent::arena;

namespace {

// The kernel allows both instructions (CR4.FSGSBASE), or the controller gives no rows.
uint64_t gs_base() {
  uint64_t base;
  asm volatile("rdgsbase %0" : "=r"(base));
  return base;
}
void set_gs_base(uint64_t base) { asm volatile("wrgsbase %0" : : "r"(base)); }

}  // namespace

// Runs in whoever comes back from a thread-starting system call with 0, and then has its parent's
// row. From some other call, in a thread that has its own, nothing changes.
extern "C" void dj_own_row() {
  const abi::Header* header = arena();
  const auto count = static_cast<uint32_t>(header->thread_row_count);
  if (count == 0) return;
  abi::ThreadRows* rows = abi::thread_rows(header);
  const uint32_t tid = agent::kernel_thread_id();
  const uint64_t row = gs_base() >> header->counter_shift;
  if (row < count && abi::load(&rows->owner[row]) == tid) return;
  set_gs_base(uint64_t{abi::take_thread_row(rows, count, tid, agent::thread_is_gone)}
              << header->counter_shift);
}
