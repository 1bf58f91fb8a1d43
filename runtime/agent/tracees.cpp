// SPDX-License-Identifier: Apache-2.0
// Notes of wishes lie in the process's private memory, which a vfork child has together with its
// parent.
#include "runtime/agent/tracees.h"

#include "runtime/agent/executes.h"
#include "runtime/agent/thread.h"

using namespace dj;

namespace {

// This process's note; null: there is none.
uint64_t* own_note(abi::ThreadTable* table, uint64_t pid) {
  for (uint64_t& note : table->tracees) {
    if (abi::load(&note) == pid) return &note;
  }
  return nullptr;
}

// Of the kernel's results: a process that is traced asks in vain. Too many to be noted: it is traced
// at once.
int64_t note_wish(uint64_t pid) {
  abi::ThreadTable* table = abi::thread_table_of(agent::arena());
  if (table == nullptr) return agent::kCallNotMade;
  if (own_note(table, pid) != nullptr) return -agent::kEperm;
  for (uint64_t& note : table->tracees) {
    const uint64_t before = abi::load(&note);
    const bool is_free = before == 0 || agent::ask_kernel(agent::kSysKill, before, 0) == -agent::kEsrch;
    if (is_free && abi::cas(&note, before, pid)) return 0;
  }
  return agent::kCallNotMade;
}

// Until djtap has looked: by then nothing traps in this process.
void await_no_traps(uint64_t pid) {
  constexpr int kRounds = 1000;
  const struct { int64_t seconds, ns; } millisecond = {0, 1'000'000};
  uint64_t* word = &agent::words().tracee;
  bool asked = false;
  for (int i = 0; i < kRounds; ++i) {
    if (asked && abi::load(word) != pid) return;
    asked = asked || abi::cas(word, 0, pid);  // others may wait, too
    agent::ask_kernel(agent::kSysNanosleep, agent::word(&millisecond));
  }
  abi::cas(word, pid, 0);
}

}  // namespace

int64_t agent::ask_for_trace() {
  const uint64_t pid = kernel_process_id();
  const bool is_target = pid == static_cast<uint64_t>(arena()->target_own_pid);
  const bool by_controller =
      is_target && ask_kernel(kSysGetppid) == static_cast<int64_t>(arena()->controller);
  if (by_controller || !owns_memory()) return note_wish(pid);
  await_no_traps(pid);
  return kCallNotMade;
}

void agent::trace_before_exec(uint64_t path) {
  abi::ThreadTable* table = abi::thread_table_of(arena());
  uint64_t* note = table != nullptr ? own_note(table, kernel_process_id()) : nullptr;
  const bool is_target = kernel_process_id() == static_cast<uint64_t>(arena()->target_own_pid);
  if (note == nullptr || is_target || (path != 0 && !may_be_there(path))) return;
  constexpr uint64_t kTraceMe = 0;
  raw_syscall(kSysPtrace, kTraceMe);
  abi::store(note, uint64_t{0});
}
