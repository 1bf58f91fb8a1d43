// StubCalls: calls and tail jumps that a module makes through its linkage stubs (arch/x86_64/
// linkage.h) to functions whose jumps stand. In a program that computes they are made to lead
// straight to the detours, which spares each of them two jumps: past the stub and past the entry,
// whose own jump stands all the same. As kprobes has an optimizer that comes later, they are looked
// for in a thread beside, while the program runs; it stands only for the writing.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/base/spare_thread.h"
#include "runtime/install/call_words.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/process.h"
#include "runtime/process/stopped.h"
#include "runtime/text/journal.h"

namespace dj {

// One of them; runtime addresses.
struct StubCall {
  uint64_t address = 0;  // of the call or jump
  uint64_t stub = 0;     // where it leads in the file
  uint64_t detour = 0;   // where it shall
  size_t module = 0;     // index into the session's modules
};

// DetourOf: to which detour a word leads, by what it holds: the detour's address or that of the
// entry whose jump goes there.
using DetourOf = std::unordered_map<uint64_t, uint64_t>;

// All that lead by words of GOTs to detours, in the text of their modules' files. Leaves out what
// could not be told apart again by its bytes alone: a detour that some bytes of the text happen to
// lead to, a second stub for one detour. Ends early, with nothing, when `stop` is set. The
// process runs.
std::vector<StubCall> find_stub_calls(const std::vector<MappedModule>& modules, pid_t pid,
                                      const DetourOf& detour_of, const ReadText& read_text,
                                      const std::atomic<bool>& stop);

// Calls in the text of `pid`, which may run, that lead to detours of `calls`; with what puts them
// back. `records`: of the same journal; where one of them is, a jump to a detour is no such call.
std::vector<TextPatch> journaled_calls(pid_t pid, const std::vector<JournalCall>& calls,
                                       const std::vector<JournalRecord>& records);

class StubCalls {
 public:
  // Begins to look for them in a thread of its own; where none can be had, it has not looked.
  void look(const std::vector<MappedModule>& modules, pid_t pid, DetourOf detour_of,
            ReadText read_text);
  bool has_looked() const { return has_looked_; }
  // They are known, there are some, and they are not written yet.
  bool is_found() const;
  // Leaves out those that lie within one of `sites`, and those whose stub does: it has probes of
  // its own. False: none remains to be written. The process may run.
  bool choose(const SiteList& sites);
  // Writes what choose() has left, the journal first; but no calls whose bytes are not the file's,
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
  struct Search {
    ~Search() { stop = true; }
    std::vector<StubCall> found;
    std::atomic<bool> done{false}, stop{false};
    std::optional<SpareThread> thread;  // joined before the others go
  };
  std::unique_ptr<Search> search_;
  std::vector<StubCall> chosen_, written_;
  size_t count_ = 0;
  bool has_looked_ = false;
};

}  // namespace dj
