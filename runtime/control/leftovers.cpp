// Told apart by the inode of their memory; its journal says whether the session is done.
#include "runtime/control/leftovers.h"

#include <sys/syscall.h>

#include <algorithm>

#include "runtime/control/clean.h"
#include "runtime/control/kin.h"
#include "runtime/shared/abi.h"

namespace dj {
namespace {

// The arena's mapping, and the thread table right behind it.
AddressRange with_threads(const Mapping& arena, const std::vector<Mapping>& maps) {
  AddressRange range{arena.begin, arena.end};
  for (const Mapping& m : maps) {
    if (m.begin == arena.end && m.inode == 0 && m.end - m.begin == sizeof(abi::ThreadTable)) {
      range.end = m.end;
    }
  }
  return range;
}

bool is_inside(const Leftover& leftover, uint64_t pc) {
  return std::any_of(leftover.code.begin(), leftover.code.end(),
                     [pc](const AddressRange& range) { return range.contains(pc); });
}

}  // namespace

Result<std::vector<Leftover>> find_leftovers(pid_t pid, const std::vector<Mapping>& maps) {
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  std::vector<Leftover> found;
  for (const FoundJournal& journal : journals) {
    DJ_TRY(bool done, is_done(pid, journal));
    if (!done) {
      continue;
    }
    Leftover leftover;
    for (const Mapping& m : maps) {
      if (!is_session_memory(m) || m.inode != journal.inode) {
        continue;
      }
      if (m.write) {
        leftover.arena = with_threads(m, maps);
      } else if (m.exec) {
        leftover.code.push_back({m.begin, m.end});
      }
    }
    if (leftover.arena.end != 0) {
      found.push_back(std::move(leftover));
    }
  }
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

Result<std::vector<Leftover>> idle_leftovers(const Stopped& stopped) {
  DJ_TRY(std::vector<Mapping> maps, read_maps(stopped.pid()));
  DJ_TRY(std::vector<Leftover> leftovers, find_leftovers(stopped.pid(), maps));
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct registers, stopped.registers(tid));
    std::erase_if(leftovers, [&](const Leftover& l) { return is_inside(l, registers.rip); });
  }
  return leftovers;
}

Status unmap_leftovers(RemoteCall& call, const std::vector<Leftover>& idle) {
  for (const Leftover& leftover : idle) {
    DJ_TRY_DO(call.checked("munmap of an old data arena", SYS_munmap,
                           {leftover.arena.begin, leftover.arena.end - leftover.arena.begin}));
  }
  return ok_status();
}

}  // namespace dj
