// SPDX-License-Identifier: Apache-2.0
// A name is one pair of words, so that it is in its place whole or not at all.
#include "runtime/agent/executes.h"

#include "runtime/agent/controller.h"
#include "runtime/agent/thread.h"
#include "runtime/agent/user_memory.h"

using namespace dj;

namespace {

constexpr uint64_t kPieceBytes = 64;  // aligned, it lies in one page
constexpr uint64_t kLongestPath = 4096;

union Name {
  abi::Pair pair;
  char bytes[abi::kProgramNameBytes];
};

// What stands behind the last slash of the path.
Name last_part(uint64_t path) {
  Name name = {};
  uint32_t length = 0;
  char piece[kPieceBytes];
  for (uint64_t at = path; at != 0 && at < path + kLongestPath;) {
    const uint64_t bytes = kPieceBytes - at % kPieceBytes;
    if (!agent::copy_in(piece, at, bytes)) break;
    for (uint64_t i = 0; i < bytes; ++i) {
      if (piece[i] == '\0') return name;
      if (piece[i] == '/') {
        name = {};
        length = 0;
      } else if (length < abi::kProgramNameBytes - 1) {
        name.bytes[length++] = piece[i];
      }
    }
    at += bytes;
  }
  return name;
}

// The place of that name; null: there is none left.
abi::ExecutedProgram* place_of(const Name& name) {
  for (abi::ExecutedProgram& program : agent::words().executed.programs) {
    abi::Pair found = {};
    if (abi::cas_pair(&program.name, &found, name.pair)) return &program;
    if (found.first == name.pair.first && found.second == name.pair.second) return &program;
  }
  return nullptr;
}

// A process whose last call has failed makes another one: each counts once.
bool has_called_before(uint64_t pid) {
  abi::ThreadTable* table = abi::thread_table_of(agent::arena());
  return table != nullptr && __atomic_exchange_n(&table->executes, pid, __ATOMIC_SEQ_CST) == pid;
}

bool is_answered() {
  return abi::load(&agent::words().exec.is_over) == 0 && !agent::controller_is_gone();
}

// Where hundreds of processes execute at once, the last one waits for all: a thread gives up when
// djtap has answered nobody for five seconds. After a minute it gives up whatever it sees: another
// process can write that djtap has answered.
class Patience {
 public:
  bool lasts() {
    constexpr int kMostSilent = 50, kMostWaits = 600, kMostTurns = 100'000;
    return silent_ < kMostSilent && waits_ < kMostWaits && ++turns_ < kMostTurns && is_answered();
  }
  // Waits until the word is not `value`, for a tenth of a second.
  void wait(const uint32_t& word, uint32_t value) {
    constexpr agent::Timespec kMoment = {0, 100'000'000};
    constexpr int64_t kTimedOut = -110;
    const int64_t answer = agent::ask_kernel(agent::kSysFutex, agent::word(&word),
                                             agent::kFutexWait, value, agent::word(&kMoment));
    const uint64_t answers = abi::load(&agent::words().exec.answers);
    silent_ = answers == answers_ ? silent_ + (answer == kTimedOut) : 0;
    waits_ += answer == kTimedOut;
    answers_ = answers;
  }

 private:
  uint64_t answers_ = 0;
  int silent_ = 0, waits_ = 0, turns_ = 0;
};

abi::ExecWish* take_free_wish() {
  for (abi::ExecWish& wish : agent::words().exec.wishes) {
    uint32_t state = abi::kExecFree;
    if (__atomic_compare_exchange_n(&wish.state, &state, abi::kExecTaken, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return &wish;
  }
  return nullptr;
}

// Waits for one, if need be. Null: djtap does not answer.
abi::ExecWish* free_wish() {
  const uint32_t& first = agent::words().exec.wishes[0].state;
  for (Patience patience; patience.lasts();) {
    if (abi::ExecWish* wish = take_free_wish()) return wish;
    const uint32_t state = abi::load(&first);
    if (state != abi::kExecFree) patience.wait(first, state);
  }
  return nullptr;
}

// Says `state`, and waits until djtap has written another one. False: djtap does not answer.
bool say(abi::ExecWish* wish, abi::ExecState state) {
  abi::ExecTalk& talk = agent::words().exec;
  abi::store(&wish->state, uint32_t{state});
  __atomic_add_fetch(&talk.events, 1, __ATOMIC_SEQ_CST);
  agent::ask_kernel(agent::kSysFutex, agent::word(&talk.events), agent::kFutexWake, 1);
  for (Patience patience; abi::load(&wish->state) == state && patience.lasts();)
    patience.wait(wish->state, state);
  return abi::load(&wish->state) != state;
}

// The program is executed without probes, and djtap is to say so once it answers again.
void miss() {
  if (is_answered()) __atomic_add_fetch(&agent::words().exec.missed, 1, __ATOMIC_SEQ_CST);
}

}  // namespace

abi::ExecWish* agent::await_follower(uint64_t path, int64_t folder, abi::ExecState state) {
  const bool follows = arena()->follows_execs != 0 && abi::load(&words().exec.is_over) == 0;
  if (!follows || is_denied(kSysFutex)) return nullptr;
  abi::ExecWish* wish = free_wish();
  if (wish == nullptr) return miss(), nullptr;
  wish->tid = kernel_thread_id();
  wish->path = path;
  wish->folder = folder;
  if (say(wish, state)) return wish;
  abi::store(&wish->state, uint32_t{abi::kExecFree});
  return miss(), nullptr;
}

void agent::take_back(abi::ExecWish* wish) {
  if (!say(wish, abi::kExecFailed)) abi::store(&wish->state, uint32_t{abi::kExecFree});
}

bool agent::may_be_there(uint64_t path) {
  constexpr uint64_t kOpenPath = 010000000, kCloseOnExec = 02000000;
  if (is_denied(kSysOpen) || is_denied(kSysClose)) return true;
  const int64_t file = raw_syscall(kSysOpen, path, kOpenPath | kCloseOnExec);
  if (file >= 0) raw_syscall(kSysClose, static_cast<uint64_t>(file));
  return file >= 0;
}

void agent::note_execute(uint64_t path) {
  const uint64_t pid = kernel_process_id();
  if (pid == static_cast<uint64_t>(arena()->target_own_pid) || has_called_before(pid)) return;
  abi::add(&words().executed.count, 1);
  const Name name = last_part(path);
  if (name.bytes[0] == '\0') return;
  if (abi::ExecutedProgram* place = place_of(name)) abi::add(&place->count, 1);
}
