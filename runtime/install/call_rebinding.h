// SPDX-License-Identifier: Apache-2.0
// CallRebinding: calls and tail jumps of a module to functions of its own, and those through its
// linkage stubs (arch/x86_64/linkage.h) to any, where the function's jump stands. In a program that
// computes they are made to lead straight to the detours, which spares each of them a jump past the
// entry, and one past the stub; the entry's own jump stands all the same. As kprobes has an
// optimizer that comes later, they are looked for in a thread beside, while the program runs; it
// stands only for the writing, of a part at a time.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/base/spare_thread.h"
#include "runtime/install/got_slots.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"
#include "runtime/text/journal.h"

namespace dj {

// One of them; runtime addresses.
struct ReboundCall {
  uint64_t address = 0;  // of the call or jump
  uint64_t target = 0;   // where it leads in the file: a function's entry or a stub
  uint64_t detour = 0;   // where it shall
  uint32_t module = 0;   // index into the session's modules
  bool by_stub = false;
};

// DetourOf: the detours of entries, by the entry's address.
using DetourOf = std::unordered_map<uint64_t, uint64_t>;

// All calls of a module that may lead to detours, by the text of its file and its GOT. Leaves out
// what could not be told apart again by its bytes alone: a detour that some other bytes of the
// text, as it is and as it will be, happen to lead to; of the entry and the stubs of one detour all
// but the one that is called from the most places. Ends early, with nothing, when `stop` is set.
// The process runs.
std::vector<ReboundCall> find_rebindable_calls(const MappedModule& module, pid_t pid,
                                               const DetourOf& detour_of, const ReadText& read_text,
                                               const std::atomic<bool>& stop);

// Calls in the text of `pid`, which may run, that lead to detours; with what puts them back.
// `calls`, `records`: of a journal, those of hooks too; the records ascend. `go_on` is asked again
// and again; its Error ends the search.
Result<std::vector<TextPatch>> journaled_calls(pid_t pid, const std::vector<JournalCall>& calls,
                                               const std::vector<JournalRecord>& records,
                                               const std::function<Status()>& go_on);

class CallRebinding {
 public:
  // Begins to look for them in a thread of its own, in the program itself first; where none can be
  // had, it has not looked.
  void look(const std::vector<MappedModule>& modules, pid_t pid, DetourOf detour_of,
            ReadText read_text);
  bool has_looked() const { return has_looked_; }
  bool is_looking() const;
  // Ends it, which may take it some 100 ms: not while somebody stands. What is written stays.
  void end_looking() { search_.reset(); }
  // Some are known and not taken yet.
  bool is_found() const;
  // Takes the next ones that are known and not written yet, some thousands at most, without those
  // that lie within one of `sites`, and those whose stub does: it has probes of its own. False:
  // there are none. The process may run.
  bool choose(const SiteList& sites);
  // Writes what choose() has taken, the journal first; but no calls whose bytes are not the file's,
  // and none to a detour to which the jump of none of `sites` leads in the text: the program may
  // have executed itself anew at the same addresses. All threads are stopped, none of them can
  // stand inside of a call.
  Status write(const Stopped& stopped, Journal& journal, const SiteList& sites);
  // Puts back those that are written. `damage`: as of restore_sites(). `modules`: as they were for
  // look(). All threads are stopped.
  Status restore(const Stopped& stopped, const std::vector<MappedModule>& modules,
                 std::string& damage);
  // Those that write() has written.
  size_t count() const { return count_; }

 private:
  // Of the thread.
  struct Search {
    ~Search() { stop = true; }
    std::mutex mutex;                // of `found`
    std::vector<ReboundCall> found;  // and not chosen yet
    std::atomic<bool> stop{false};
    std::optional<SpareThread> thread;  // joined before the others go
  };
  std::unique_ptr<Search> search_;
  std::vector<ReboundCall> chosen_, written_;
  std::set<uint64_t> entered_;  // stubs in the journal
  size_t count_ = 0;
  bool has_looked_ = false;
};

}  // namespace dj
