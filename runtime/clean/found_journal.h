// SPDX-License-Identifier: Apache-2.0
// FoundJournal: the journal of one session that has this process, or a forebear, as its target, as
// it lies in the process. Programs can forge such memory, so the numbers in it are bounded here,
// and what it says of places holds for private memory of files alone: text and what leads to it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/clean/effort.h"
#include "runtime/text/journal.h"

namespace dj {

struct FoundJournal {
  uint64_t device = 0, inode = 0;  // of the journal; the session's memory is known by it
  uint64_t address = 0;            // of the journal in the process
  JournalHeader header = {};

  // Later ones are greater.
  std::pair<uint64_t, int64_t> session() const {
    return {header.controller_start, header.controller};
  }
  // The djtap that wrote it still runs, and is not done: the process that it names was started when
  // it says, runs a djtap, and has this very file mapped to write. A djtap whose mappings may not
  // be looked at is believed: it has more rights than this one, which then leaves the target alone.
  bool is_held() const;
  // The djtap that wrote it has put all back in this process, as it says: nothing of it is read.
  bool is_settled(pid_t pid) const;
};

// Those that are mapped into `pid`, which may run meanwhile, one a file; latest session first, as
// they are to be cleaned: the int3 of a later session looks like one of an earlier session at the
// same place. What is no journal of this version of djtap fails, what cannot be one is left out,
// and more than djtap ever leaves is an error.
Result<std::vector<FoundJournal>> find_journals(pid_t pid);

// Places of the journal that lie in the process's private memory of files, ascending.
Result<std::vector<JournalRecord>> read_records(pid_t pid, const FoundJournal& journal);
Result<std::vector<JournalCall>> read_calls(pid_t pid, const FoundJournal& journal);

}  // namespace dj
