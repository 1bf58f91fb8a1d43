// SPDX-License-Identifier: Apache-2.0
// FoundJournal holds the journal of one session that has this process, or one from which it was
// forked, as its target, as the journal lies in the process. Programs can forge such memory, so
// find_journals() bounds the numbers in it. What it says of places counts only for private memory
// of files: text, and the words that lead to it.
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
  uint64_t device = 0, inode = 0;  // of the journal, by which the session's memory is known
  uint64_t address = 0;            // of the journal in the process
  JournalHeader header = {};

  // Tells sessions apart; that of a later session is greater.
  std::pair<uint64_t, int64_t> session() const {
    return {header.controller_start, header.controller};
  }
  // Whether the djtap that wrote it still runs, and is not done. That is so if the process that the
  // journal names was started when the journal says, runs a djtap, and has this very file mapped to
  // write. If this djtap may not look at the mappings of the other, it believes it: the other has
  // more rights, and this one then leaves the target alone.
  bool is_held() const;
  // Whether the djtap that wrote it has put all back in this process, as the journal says: djtap
  // then reads nothing more of it.
  bool is_settled(pid_t pid) const;
};

// Returns the journals that are mapped into `pid`, which may run meanwhile, one a file. The latest
// session comes first, as djtap cleans them in that order: the int3 of a later session looks like
// one of an earlier session at the same place. Fails on a journal of another version of djtap, and
// on more than djtap ever leaves. Leaves out what cannot be a journal.
Result<std::vector<FoundJournal>> find_journals(pid_t pid);

// read_records(): the places of the journal that lie in the process's private memory of files,
// ascending. read_calls(): its calls.
Result<std::vector<JournalRecord>> read_records(pid_t pid, const FoundJournal& journal);
Result<std::vector<JournalCall>> read_calls(pid_t pid, const FoundJournal& journal);

}  // namespace dj
