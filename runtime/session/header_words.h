// HeaderWords: the words of the arena's header that change while a session runs. The target can
// write all of them: what they say is a wish or a count, and nothing in djtap follows it.
#pragma once
#include <cstdint>
#include <optional>

#include "runtime/process/untrusted.h"
#include "runtime/shared/abi.h"

namespace dj {

class HeaderWords {
 public:
  explicit HeaderWords(const ArenaView& arena) : arena_(arena) {}

  bool exit_requested() const { return count(offsetof(abi::Header, exit_requested)) != 0; }
  void request_exit() const { store(offsetof(abi::Header, exit_requested), 1); }
  uint64_t errors() const { return count(offsetof(abi::Header, error_count)); }
  uint64_t denied() const { return count(offsetof(abi::Header, denied)); }
  // System calls that djtap has found denied, for script errors that these cause.
  void add_denied(uint64_t calls) const { store(offsetof(abi::Header, denied), denied() | calls); }
  uint64_t skipped(abi::Skip why) const {
    return count(offsetof(abi::Header, skipped) + sizeof(uint64_t) * why);
  }
  // Why the session must end; kNoEnd also where the word is none of the reasons.
  abi::EndReason end_wanted() const {
    const auto word = arena_.word(arena_.base() + offsetof(abi::Header, end_wanted));
    return word.one_of(abi::kEndForFilter).value_or(abi::kNoEnd);
  }
  // The Task that handlers of djtap run for; 0: none.
  void set_task(uint64_t address) const { store(offsetof(abi::Header, task), address); }

  // How often the target's loader has said something.
  uint32_t loader_events() const {
    return arena_.word<uint32_t>(talk() + offsetof(abi::LoaderTalk, events)).number();
  }
  void set_loader_awaits(abi::LoaderAwaits awaits) const {
    arena_.store<uint32_t>(talk() + offsetof(abi::LoaderTalk, awaits), awaits);
  }
  void answer_loader(uint32_t event) const { arena_.store<uint32_t>(loader_futex(), event); }
  // Address of the word that the loader waits at.
  uint64_t loader_futex() const { return talk() + offsetof(abi::LoaderTalk, answered); }

 private:
  uint64_t talk() const { return arena_.base() + offsetof(abi::Header, loader); }
  uint64_t count(uint64_t offset) const { return arena_.word(arena_.base() + offset).number(); }
  void store(uint64_t offset, uint64_t word) const {
    arena_.store<uint64_t>(arena_.base() + offset, word);
  }

  ArenaView arena_;
};

}  // namespace dj
