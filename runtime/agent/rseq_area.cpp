// SPDX-License-Identifier: Apache-2.0
// The kernel writes to the area of a registered thread whenever that has lost its processor.
#include "runtime/agent/rseq_area.h"

#include "runtime/agent/user_memory.h"

using namespace dj;
using agent::arena;

namespace {

constexpr uint64_t kCloneVm = 0x100, kCloneVfork = 0x4000, kCloneSetTls = 0x80000;

uint64_t area_of(uint64_t fs) { return fs + static_cast<uint64_t>(agent::rseq_offset()); }

// The kernel leaves this thread's area alone from here on, and it says so. djtap gives it back when
// the session ends.
void unregister_for_good() {
  constexpr uint64_t kUnregister = 1;  // RSEQ_FLAG_UNREGISTER
  agent::mark_unregistered();
  auto* table = abi::thread_table_of(arena());
  if (table == nullptr || table->rseq_bytes == 0) return;
  const int64_t done = agent::ask_kernel(agent::kSysRseq, area_of(agent::fs_base()),
                                         table->rseq_bytes, kUnregister, table->rseq_signature);
  if (done != 0) return;
  for (uint64_t& slot : table->shared_areas) {
    if (abi::load(&slot) == 0 && abi::cas(&slot, 0, agent::kernel_thread_id())) return;
  }
}

}  // namespace

bool agent::is_control_block(uint64_t fs) {
  uint64_t words[3];  // tcb, dtv, self
  return copy_in(words, fs, sizeof words) && words[0] == fs && words[2] == fs;
}

bool agent::has_foreign_block(const CloneArguments& args) {
  return (args.flags & kCloneSetTls) != 0 && !is_control_block(args.tls);
}

void agent::mark_unregistered(uint64_t fs) {
  const uint64_t at = area_of(fs) + kRseqCpu;
  uint32_t cpu, unregistered = ~0u;
  if (!copy_in(&cpu, at, sizeof cpu) || cpu >= arena()->cpus) return;
  copy_out(at, &unregistered, sizeof unregistered);
}

void agent::mark_unregistered() { mark_unregistered(fs_base()); }

// A vfork child's parent waits meanwhile, so nobody writes.
void agent::prepare_clone(const CloneArguments& args) {
  if ((args.flags & kCloneVm) == 0) return;
  const bool shares = (args.flags & kCloneSetTls) == 0 || args.tls == fs_base();
  if (shares && (args.flags & kCloneVfork) != 0) return mark_unregistered();
  if (shares) return unregister_for_good();
  mark_unregistered(args.tls);
  forget_thread(args.tls);
}
