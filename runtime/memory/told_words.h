// SPDX-License-Identifier: Apache-2.0
// ToldWords reads and writes the SessionWords of the arena for the controller. The target can write
// all of them: what they say is a wish or a count, and djtap follows none of them as an address.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/process/untrusted.h"
#include "runtime/shared/abi.h"

namespace dj {

class ToldWords {
 public:
  // `words`: their address, by the Layout.
  ToldWords(const ArenaView& arena, uint64_t words) : arena_(arena), words_(words) {}

  bool exit_requested() const { return count(offsetof(abi::SessionWords, exit_requested)) != 0; }
  void request_exit() const { store(offsetof(abi::SessionWords, exit_requested), 1); }
  uint64_t errors() const { return count(offsetof(abi::SessionWords, error_count)); }
  // The pid, in its own numbering, of a process that wants to be traced and waits until nothing in
  // it traps; 0: there is none.
  uint64_t tracee() const { return count(offsetof(abi::SessionWords, tracee)); }
  void answer_tracee() const { store(offsetof(abi::SessionWords, tracee), 0); }
  uint64_t denied() const { return count(offsetof(abi::SessionWords, denied)); }
  // Adds system calls that djtap has found denied, for script errors that these cause.
  void add_denied(uint64_t calls) const {
    store(offsetof(abi::SessionWords, denied), denied() | calls);
  }
  uint64_t skipped(abi::Skip why) const {
    return count(offsetof(abi::SessionWords, skipped) + sizeof(uint64_t) * why);
  }
  // How many processes of the session have executed another program.
  uint64_t executed() const {
    return count(offsetof(abi::SessionWords, executed) + offsetof(abi::ExecutedPrograms, count));
  }
  // The name of the i-th such program, as the target has left it, and how often it was executed;
  // "": there is none.
  std::pair<std::string, uint64_t> executed_program(uint32_t i) const {
    const uint64_t at = offsetof(abi::SessionWords, executed) +
                        offsetof(abi::ExecutedPrograms, programs) +
                        i * sizeof(abi::ExecutedProgram);
    char name[abi::kProgramNameBytes] = {};
    arena_.copy(words_ + at, name, sizeof name - 1);
    return {name, count(at + offsetof(abi::ExecutedProgram, count))};
  }
  // Why the session must end; kNoEnd, too, where the word is none of the reasons.
  abi::EndReason end_wanted() const {
    const auto word = arena_.word(words_ + offsetof(abi::SessionWords, end_wanted));
    return word.one_of(abi::kEndForFilter).value_or(abi::kNoEnd);
  }

  // --- threads that are about to execute another program (exec_wish.h) ---
  // Address of the word that counts what these threads have said, where djtap waits for it to
  // change.
  uint64_t exec_bell() const { return exec() + offsetof(abi::ExecTalk, events); }
  // What number `i` says.
  abi::ExecWish exec_wish(uint32_t i) const {
    abi::ExecWish wish = {};
    arena_.copy(exec_wish_at(i), &wish, sizeof wish);
    return wish;
  }
  // How many programs were executed without an answer of djtap, which took seconds.
  uint64_t missed_execs() const {
    return arena_.word(exec() + offsetof(abi::ExecTalk, missed)).number();
  }
  void answer_exec(uint32_t i, abi::ExecState state) const {
    const uint64_t answers = exec() + offsetof(abi::ExecTalk, answers);
    arena_.store<uint64_t>(answers, arena_.word(answers).number() + 1);
    arena_.store<uint32_t>(exec_wish_at(i), state);
  }
  // Address of the word that the thread waits at.
  uint64_t exec_wish_at(uint32_t i) const {
    return exec() + offsetof(abi::ExecTalk, wishes) + i * sizeof(abi::ExecWish);
  }
  // From here on no thread waits.
  void follow_no_execs() const {
    arena_.store<uint32_t>(exec() + offsetof(abi::ExecTalk, is_over), 1);
  }

  // Forgets that wish; a process that still waits says it again.
  void answer_end() const { store(offsetof(abi::SessionWords, end_wanted), abi::kNoEnd); }

  // How many events the target's loader has reported.
  uint32_t loader_events() const { return arena_.word<uint32_t>(loader_bell()).number(); }
  // Address of the word that counts these events, where djtap waits for it to change.
  uint64_t loader_bell() const { return talk() + offsetof(abi::LoaderTalk, events); }
  void set_loader_awaits(abi::LoaderAwaits awaits) const {
    arena_.store<uint32_t>(talk() + offsetof(abi::LoaderTalk, awaits), awaits);
  }
  void answer_loader(uint32_t event) const { arena_.store<uint32_t>(loader_futex(), event); }
  // Address of the word that tells threads whether djtap lives (presence.h).
  uint64_t presence() const { return talk() + offsetof(abi::LoaderTalk, presence); }
  // Address of the word that the loader waits at.
  uint64_t loader_futex() const { return talk() + offsetof(abi::LoaderTalk, answered); }

 private:
  uint64_t exec() const { return words_ + offsetof(abi::SessionWords, exec); }
  uint64_t talk() const { return words_ + offsetof(abi::SessionWords, loader); }
  uint64_t count(uint64_t offset) const { return arena_.word(words_ + offset).number(); }
  void store(uint64_t offset, uint64_t word) const {
    arena_.store<uint64_t>(words_ + offset, word);
  }

  ArenaView arena_;
  uint64_t words_;
};

}  // namespace dj
