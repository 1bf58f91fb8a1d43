// SPDX-License-Identifier: Apache-2.0
// CallRebinding makes calls lead straight to detours: a module's calls and tail jumps to functions
// of its own, and those through its linkage stubs (arch/x86_64/linkage.h) to any function, where
// the function's jump stands. Each such call is spared a jump past the entry, and one past the
// stub. The entry's own jump stands all the same. djtap does this in programs that compute. As
// kprobes has an optimizer that comes later, a thread beside looks for the calls while the program
// runs. The program stands only for the writing, of a part at a time.
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

// ReboundCall: a call or jump to rebind; runtime addresses.
struct ReboundCall {
  uint64_t address = 0;  // of the call or jump
  uint64_t target = 0;   // where it leads in the file: a function's entry or a stub
  uint64_t detour = 0;   // where it shall lead
  uint32_t module = 0;   // index into the session's modules
  bool by_stub = false;
};

// DetourOf: the detours of entries, by the entry's address.
using DetourOf = std::unordered_map<uint64_t, uint64_t>;

// Finds all calls of a module that may lead to detours, by the text of its file and its GOT. It
// leaves out a call that djtap could not know again by its bytes alone. So it leaves out calls to a
// detour to which some other bytes of the text, as it is or as it will be, happen to lead. Of the
// entry and the stubs of one detour it takes only the one that most places call. It ends early,
// with nothing, when `stop` is set. The process runs.
std::vector<ReboundCall> find_rebindable_calls(const MappedModule& module, pid_t pid,
                                               const DetourOf& detour_of, const ReadText& read_text,
                                               const std::atomic<bool>& stop);

// Returns the patches that put back the calls in the text of `pid` that lead to detours. The
// process may run. `calls`, `records`: of a journal, those of hooks too; the records ascend. It
// calls `go_on` between parts of the text; an Error of `go_on` ends the search.
Result<std::vector<TextPatch>> journaled_calls(pid_t pid, const std::vector<JournalCall>& calls,
                                               const std::vector<JournalRecord>& records,
                                               const std::function<Status()>& go_on);

class CallRebinding {
 public:
  // Begins to look for calls in a thread of its own, in the program itself first. Where djtap can
  // have no thread, has_looked() stays false.
  void look(const std::vector<MappedModule>& modules, pid_t pid, DetourOf detour_of,
            ReadText read_text);
  bool has_looked() const { return has_looked_; }
  bool is_looking() const;
  // Ends the search, which may take some 100 ms: do not call it while threads are stopped. What is
  // written stays.
  void end_looking() { search_.reset(); }
  // The search has found calls that choose() has not taken yet.
  bool is_found() const;
  // Takes the next calls that are known and not written yet, 20,000 at most. It drops those that
  // lie within one of `sites`, and those whose stub does: the stub has probes of its own. False: no
  // call remains. The process may run.
  bool choose(const SiteList& sites);
  // Writes what choose() has taken, the journal first. It skips calls whose bytes are not the
  // file's, and calls to a detour to which the jump of none of `sites` leads in the text: the
  // program may have executed itself anew at the same addresses. All threads are stopped, and none
  // of them can stand inside a call.
  Status write(const Stopped& stopped, Journal& journal, const SiteList& sites);
  // Puts back the calls that are written, and ends the search. `damage`: as of restore_sites().
  // `modules`: as they were for look(). All threads are stopped.
  Status restore(const Stopped& stopped, const std::vector<MappedModule>& modules,
                 std::string& damage);
  // How many calls write() has written.
  size_t count() const { return count_; }

 private:
  // Search: what the thread works on.
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
