// SPDX-License-Identifier: Apache-2.0
// Told apart by the inodes of their files; the journal names the others, and leads to whether the
// session is done.
#include "runtime/clean/leftovers.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <unordered_map>

#include "runtime/clean/clean.h"
#include "runtime/clean/ways_back.h"
#include "runtime/memory/debug_list.h"
#include "runtime/memory/unmade_mark.h"
#include "runtime/process/os_error.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/signal_actions.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/thread_table.h"

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

// Bytes of private memory of a session with this ThreadTable; 0: not known.
uint64_t private_bytes_of(const Mapping& data, uint64_t threads) {
  constexpr uint64_t kMostContexts = 1 << 30;  // a forged journal may say anything
  if (threads < data.end || threads - data.end > kMostContexts) return 0;
  return abi::private_bytes(threads - data.end);
}

// The end of the private memory right behind the data: a mapping of what is wiped in forked
// children and one of the rest, which may be one with what the program has behind it. Where there
// is none, the end of the data.
uint64_t end_of_private(const Mapping& data, uint64_t bytes, const std::vector<Mapping>& maps) {
  const uint64_t end = data.end + bytes;
  uint64_t mapped = data.end;
  for (auto m = std::ranges::lower_bound(maps, data.end, {}, &Mapping::begin);
       m != maps.end() && m->begin == mapped && m->inode == 0 && mapped < end; ++m) {
    mapped = m->end;
  }
  return mapped >= end ? end : data.end;
}

// Its pieces as they are now.
void locate(Leftover& leftover, Pieces& pieces, const std::vector<Mapping>& maps, pid_t pid) {
  leftover.arena = leftover.journal = {};
  leftover.code.clear();
  for (const uint64_t file : leftover.files) {
    for (const Mapping* m : pieces.take(file)) {
      if (m->exec) {
        leftover.code.push_back({m->begin, m->end});
      } else if (m->write) {
        const bool goes_on = leftover.arena.end == m->begin;  // behind the constants
        const uint64_t bytes = leftover.unmade ? marked_private_bytes(pid, m->begin)
                                               : private_bytes_of(*m, leftover.threads);
        leftover.arena = {goes_on ? leftover.arena.begin : m->begin,
                          end_of_private(*m, bytes, maps)};
      } else {
        leftover.arena = {m->begin, m->end};
      }
    }
  }
  for (const Mapping* m : pieces.take(leftover.inode)) leftover.journal = {m->begin, m->end};
}

// A thread that was making a handler's system call when the session ended may have set a gate up
// behind it.
Status close_gates(Stopped& stopped, const Leftover& leftover) {
  if (leftover.gates == 0 || !leftover.arena.contains(leftover.gates)) return ok_status();
  return leave_gates(stopped, leftover.gates);
}

std::vector<AddressRange> code_of(const std::vector<Leftover>& leftovers) {
  std::vector<AddressRange> code;
  for (const Leftover& leftover : leftovers)
    code.insert(code.end(), leftover.code.begin(), leftover.code.end());
  return code;
}

// Those of sessions to whose code, that of later objects with it, nobody can come back. `used`: by
// piece of their code.
std::vector<Leftover> idle_ones(std::vector<Leftover> leftovers, const std::vector<bool>& used,
                                const SavedContexts& saved) {
  std::set<std::pair<uint64_t, int64_t>> busy;
  size_t next = 0;
  for (const Leftover& leftover : leftovers) {
    for (size_t i = 0; i < leftover.code.size(); i++) {
      if (used[next++]) busy.insert(leftover.session);
    }
  }
  // A signal handler may have exchanged the program's own threads in the middle of a handler.
  if (!saved.are_all) busy.insert(leftovers.back().session);
  std::erase_if(leftovers,
                [&](const Leftover& l) { return !l.unmade && busy.contains(l.session); });
  return leftovers;
}

// What of these is mapped; parts between which nothing else is are one. Journals come last: they
// tell of the others.
std::vector<AddressRange> joined(const std::vector<Leftover>& leftovers,
                                 const std::vector<Mapping>& maps) {
  std::vector<AddressRange> parts = code_of(leftovers), whole;
  for (const Leftover& leftover : leftovers) {
    if (leftover.arena.end != 0) parts.push_back(leftover.arena);
    if (leftover.journal.end != 0) parts.push_back(leftover.journal);
  }
  std::ranges::sort(parts, {}, &AddressRange::begin);
  for (const AddressRange& part : parts) {
    const auto behind = [&] {
      return std::ranges::upper_bound(maps, whole.back().end, {}, &Mapping::end);
    };
    if (!whole.empty() && (behind() == maps.end() || behind()->begin >= part.begin)) {
      whole.back().end = part.end;
    } else {
      whole.push_back(part);
    }
  }
  std::ranges::stable_partition(whole, [&](const AddressRange& range) {
    return std::ranges::none_of(leftovers, [&](const Leftover& leftover) {
      return leftover.journal.end != 0 && range.contains(leftover.journal.begin);
    });
  });
  return whole;
}

// Is one of these processes, which run on, no fork of `call`'s but in the very same memory
// (CLONE_VM without CLONE_THREAD)?
Result<bool> is_shared(RemoteCall& call, const std::vector<pid_t>& others) {
  if (others.empty()) return false;
  uint64_t mark = now_ns() | 1, seen = 0;
  DJ_TRY(const uint64_t page, call.scratch());
  DJ_TRY_DO(call.stopped().write(page, {reinterpret_cast<uint8_t*>(&mark), sizeof mark}));
  return std::ranges::any_of(others, [&](pid_t other) {
    return read_running(other, page, &seen, sizeof seen) && seen == mark;
  });
}

// Memory without a journal. Whoever is making some holds the process by ptrace meanwhile.
Result<std::vector<Leftover>> find_unmade(pid_t pid, const std::vector<Mapping>& maps) {
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  std::set<uint64_t> made;
  for (const FoundJournal& journal : journals) {
    made.insert(journal.inode);
    made.insert(std::begin(journal.header.files), std::end(journal.header.files));
  }
  std::vector<Leftover> found;
  Pieces pieces(maps);
  for (const Mapping& m : maps) {
    if (!is_session_memory(m) || !made.insert(m.inode).second) continue;
    if (found.size() == kMostUnmade) return Effort::too_much(pid);
    found.emplace_back();
    found.back().files = {m.inode};
    found.back().unmade = true;
    locate(found.back(), pieces, maps, pid);
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
  for (Leftover& leftover : leftovers) locate(leftover, pieces, maps, stopped.pid());
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
      found.back().files.assign(std::begin(journal.header.files), std::end(journal.header.files));
      found.back().gates = journal.header.fault_gates;
      found.back().threads = journal.header.threads;
      locate(found.back(), pieces, maps, pid);
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

namespace {

// What can be found out while the process runs.
struct Found {
  std::vector<Leftover> leftovers;
  SavedContexts saved;
  std::vector<pid_t> others;  // that may run in the same memory
};

// Stay: whether some leftovers stay, and whether the thread that keeps them runs. If so, a second
// try may unmap them. is_shared: another process has the same memory, and nothing was unmapped.
struct Stay {
  bool some, runs, is_shared = false;
};

Result<Found> find_all(pid_t pid) {
  Found found;
  DJ_TRY(const std::vector<Mapping> maps, read_maps(pid));
  if (std::ranges::none_of(maps, is_session_memory)) return found;
  DJ_TRY(found.leftovers, find_leftovers(pid, maps));
  if (found.leftovers.empty()) return found;
  found.saved = find_saved_contexts(pid, maps, code_of(found.leftovers));
  const Leftover& latest = found.leftovers.back();
  found.others =
      find_sharing_processes(pid, latest.inode != 0 ? latest.inode : latest.files.front());
  return found;
}

// Unmaps those to whose code nobody comes back.
Result<Stay> unmap_leftovers(Stopped& stopped, Found found) {
  DJ_TRY_DO(look_again(stopped, found.leftovers));
  DJ_TRY(const WaysBack ways, find_ways_back(stopped, code_of(found.leftovers), found.saved));
  const std::vector<Leftover> idle = idle_ones(found.leftovers, ways.used, found.saved);
  for (const Leftover& leftover : idle) DJ_TRY_DO(close_gates(stopped, leftover));
  leave_debug_list(stopped.pid());
  DJ_TRY(const std::vector<Mapping> maps, read_maps(stopped.pid()));
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped));
  DJ_TRY(const bool shared, is_shared(call, found.others));
  if (shared) return Stay{false, false, true};
  for (const AddressRange& range : joined(idle, maps)) {
    DJ_TRY_DO(call.checked("munmap of an ended session's memory", SYS_munmap,
                           {range.begin, range.end - range.begin}));
  }
  DJ_TRY_DO(call.give_back());
  return Stay{idle.size() < found.leftovers.size(), ways.runs};
}

}  // namespace

Result<bool> clear_leftovers(pid_t pid, Patience patience) {
  using std::chrono::milliseconds;
  constexpr milliseconds kFirst(1), kLongest(32);  // from one look to the next
  constexpr milliseconds kInCall(15), kInHandler(63), kInHandlerOfCommand(10'000);
  const milliseconds running = patience == Patience::OfCommand ? kInHandlerOfCommand : kInHandler;
  DJ_TRY(const Found found, find_all(pid));
  if (found.leftovers.empty()) return true;
  milliseconds waited(0);
  for (milliseconds wait = kFirst;; wait = std::min(wait * 2, kLongest)) {
    {
      DJ_TRY(Stopped stopped, Stopped::stop(pid));
      DJ_TRY(const Stay stay, unmap_leftovers(stopped, found));
      if (!stay.some || waited >= (stay.runs ? running : kInCall)) return !stay.some;
    }
    std::this_thread::sleep_for(wait);
    waited += wait;
  }
}

Result<bool> clear_leftovers(Stopped& stopped) {
  DJ_TRY(Found found, find_all(stopped.pid()));
  if (found.leftovers.empty()) return true;
  DJ_TRY(const Stay stay, unmap_leftovers(stopped, std::move(found)));
  return !stay.some && !stay.is_shared;
}

}  // namespace dj
