// Told apart by the inodes of their files; the journal names the others, and leads to whether the
// session is done.
#include "runtime/clean/leftovers.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "runtime/clean/clean.h"
#include "runtime/memory/debug_list.h"
#include "runtime/process/kin.h"
#include "runtime/process/signal_actions.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/thread_table.h"
#include "runtime/text/thread_moves.h"

namespace dj {
namespace {

constexpr size_t kMostUnmade = 4096;

// Pieces: mappings of sessions' files, by inode. Each is taken once: two forged journals may name
// the same file.
class Pieces {
 public:
  explicit Pieces(const std::vector<Mapping>& maps) {
    for (const Mapping& m : maps) {
      if (is_session_memory(m)) of_[m.inode].push_back(&m);
    }
  }
  std::vector<const Mapping*> take(uint64_t inode) {
    const auto found = of_.find(inode);
    return found == of_.end() ? std::vector<const Mapping*>() : std::exchange(found->second, {});
  }

 private:
  std::unordered_map<uint64_t, std::vector<const Mapping*>> of_;
};

// The end of the private memory right behind the data: a mapping of what is wiped in forked
// children and one of the rest, which may be one with what the program has behind it. Where there
// is none, the end of the data. threads: address of the ThreadTable in it; 0: not known.
uint64_t end_of_private(const Mapping& data, uint64_t threads, const std::vector<Mapping>& maps) {
  constexpr uint64_t kMostContexts = 1 << 30;  // a forged journal may say anything
  if (threads < data.end || threads - data.end > kMostContexts) return data.end;
  const uint64_t end = data.end + abi::private_bytes(threads - data.end);
  uint64_t mapped = data.end;
  for (auto m = std::ranges::lower_bound(maps, data.end, {}, &Mapping::begin);
       m != maps.end() && m->begin == mapped && m->inode == 0 && mapped < end; ++m) {
    mapped = m->end;
  }
  return mapped >= end ? end : data.end;
}

// Its pieces as they are now.
void locate(Leftover& leftover, Pieces& pieces, const std::vector<Mapping>& maps) {
  leftover.arena = leftover.journal = {};
  leftover.code.clear();
  for (const uint64_t file : leftover.files) {
    for (const Mapping* m : pieces.take(file)) {
      if (m->exec) {
        leftover.code.push_back({m->begin, m->end});
      } else if (m->write) {
        const bool goes_on = leftover.arena.end == m->begin;  // behind the constants
        leftover.arena = {goes_on ? leftover.arena.begin : m->begin,
                          end_of_private(*m, leftover.threads, maps)};
      } else {
        leftover.arena = {m->begin, m->end};
      }
    }
  }
  for (const Mapping* m : pieces.take(leftover.inode)) leftover.journal = {m->begin, m->end};
}

Status unmap(RemoteCall& call, const AddressRange& range) {
  DJ_TRY_DO(call.checked("munmap of an ended session's memory", SYS_munmap,
                         {range.begin, range.end - range.begin}));
  return ok_status();
}

// A thread that was making a handler's system call when the session ended may have set a gate up
// behind it.
Status close_gates(Stopped& stopped, const Leftover& leftover) {
  if (leftover.gates == 0 || !leftover.arena.contains(leftover.gates)) return ok_status();
  return leave_gates(stopped, leftover.gates);
}

// Those of sessions to whose code, that of later objects with it, nobody can come back.
Result<std::vector<Leftover>> idle_ones(const Stopped& stopped, std::vector<Leftover> leftovers,
                                        const std::vector<uint64_t>& restorers) {
  std::vector<AddressRange> code;
  std::vector<std::pair<uint64_t, int64_t>> whose;
  for (const Leftover& leftover : leftovers) {
    code.insert(code.end(), leftover.code.begin(), leftover.code.end());
    whose.resize(code.size(), leftover.session);
  }
  DJ_TRY(std::vector<bool> used, in_use(stopped, code, restorers));
  std::set<std::pair<uint64_t, int64_t>> busy;
  for (size_t i = 0; i < code.size(); i++) {
    if (used[i]) busy.insert(whose[i]);
  }
  std::erase_if(leftovers, [&](const Leftover& l) { return busy.contains(l.session); });
  return leftovers;
}

// Memory without a journal. Whoever is making some holds the process by ptrace meanwhile.
Result<std::vector<Leftover>> find_unmade(pid_t pid, const std::vector<Mapping>& maps) {
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  std::set<uint64_t> made;
  for (const FoundJournal& journal : journals) {
    made.insert(journal.inode);
    made.insert({journal.header.constants, journal.header.data, journal.header.code});
  }
  std::vector<Leftover> found;
  Pieces pieces(maps);
  for (const Mapping& m : maps) {
    if (!is_session_memory(m) || !made.insert(m.inode).second) continue;
    if (found.size() == kMostUnmade) return Effort::too_much(pid);
    found.emplace_back();
    found.back().files = {m.inode};
    found.back().unmade = true;
    locate(found.back(), pieces, maps);
  }
  return found;
}

// Somebody may have come first, or have made the memory's journal.
Status look_again(const Stopped& stopped, std::vector<Leftover>& leftovers) {
  DJ_TRY(std::vector<Mapping> maps, read_maps(stopped.pid()));
  DJ_TRY(std::vector<Leftover> unmade, find_unmade(stopped.pid(), maps));
  std::set<std::vector<uint64_t>> still;
  for (const Leftover& leftover : unmade) still.insert(leftover.files);
  std::erase_if(leftovers, [&](const Leftover& leftover) {
    return leftover.unmade && !still.contains(leftover.files);
  });
  Pieces pieces(maps);
  for (Leftover& leftover : leftovers) locate(leftover, pieces, maps);
  return ok_status();
}

}  // namespace

Result<std::vector<Leftover>> find_leftovers(pid_t pid, const std::vector<Mapping>& maps) {
  const Effort effort(pid);
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  DJ_TRY(std::vector<Leftover> found, find_unmade(pid, maps));
  Pieces pieces(maps);
  for (const FoundJournal& journal : journals) {
    DJ_TRY(bool done, is_done(pid, journal, effort));
    if (done) {
      found.emplace_back();
      found.back().session = journal.session();
      found.back().inode = journal.inode;
      found.back().files = {journal.header.constants, journal.header.data, journal.header.code};
      found.back().gates = journal.header.fault_gates;
      found.back().threads = journal.header.threads;
      locate(found.back(), pieces, maps);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Leftover& a, const Leftover& b) { return a.session < b.session; });
  return found;
}

std::vector<Mapping> without_leftovers(const std::vector<Mapping>& maps,
                                       const std::vector<Leftover>& leftovers) {
  std::vector<Mapping> rest = maps;
  std::erase_if(rest, [&](const Mapping& m) {
    return std::any_of(leftovers.begin(), leftovers.end(),
                       [&](const Leftover& l) { return l.arena.contains(m.begin); });
  });
  return rest;
}

Status unmap_leftovers(Stopped& stopped, std::vector<Leftover> leftovers,
                       const std::vector<uint64_t>& restorers) {
  // A signal handler may have switched stacks in the middle of a handler of ours: that one stands
  // on no thread's stack, and has so many sessions' time to come back.
  constexpr size_t kKept = 8;
  if (leftovers.empty()) {
    return ok_status();
  }
  DJ_TRY_DO(look_again(stopped, leftovers));
  DJ_TRY(std::vector<Leftover> idle, idle_ones(stopped, leftovers, restorers));
  for (const Leftover& leftover : idle) {
    DJ_TRY_DO(close_gates(stopped, leftover));
  }
  const auto newest = leftovers.size() > kKept ? leftovers.end()[-long{kKept}].session
                                               : std::pair<uint64_t, int64_t>();
  leave_debug_list(stopped.pid());
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped));
  for (const Leftover& leftover : idle) {
    if (leftover.arena.end != 0) {
      DJ_TRY_DO(unmap(call, leftover.arena));
    }
    if (!leftover.unmade && !(leftover.session < newest)) {
      continue;
    }
    for (const AddressRange& code : leftover.code) {
      DJ_TRY_DO(unmap(call, code));
    }
    if (leftover.journal.end != 0) {  // last: it tells of the others
      DJ_TRY_DO(unmap(call, leftover.journal));
    }
  }
  return call.give_back();
}

}  // namespace dj
