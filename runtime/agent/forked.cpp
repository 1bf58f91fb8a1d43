// SPDX-License-Identifier: Apache-2.0
// Forked children: what the first thread takes over from the thread that has forked, and that they
// tell djtap that they begin and that they end, so that it knows of those that end without a word.
#include "runtime/agent/event_record.h"
#include "runtime/agent/thread.h"

using namespace dj;
using agent::arena;

namespace {

void tell(abi::EventKind kind) {
  agent::Record record;
  if (!record.open(sizeof(abi::ChildPayload), kind, 0)) return;
  *reinterpret_cast<abi::ChildPayload*>(record.payload()) = {arena()->target_pid,
                                                             agent::process_id()};
  record.commit();
}

}  // namespace

// Handlers that a signal handler has interrupted go on in the child that this has forked. What they
// run with looks free there, as what the parent's other threads ran with is.
void agent::take_over(abi::ThreadTable* table, uint32_t tid) {
  abi::store(&table->taken_over, uint64_t{1});
  if (tid != kernel_process_id()) return;
  const uint64_t run = run_of_thread();
  for (uint32_t i = 0; i < arena()->context_count; ++i) {
    if (abi::load(&table->context_runs[i]) == run) abi::cas(&table->context_owners[i], 0, tid);
  }
  for (uint32_t i = 0; i < abi::kOwnStacks; ++i) {
    if (abi::load(&table->own_stack_runs[i]) == run)
      abi::cas(&table->own_stacks.taken[i], 0, abi::own_stack_word(tid));
  }
}

void dj_forked_begins() { tell(abi::kEventChildBegins); }
void dj_forked_ends() { tell(abi::kEventChildEnds); }
