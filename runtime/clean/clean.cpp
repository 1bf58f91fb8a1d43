// SPDX-License-Identifier: Apache-2.0
// One process at a time; all of it is read from the process's own memory.
#include "runtime/clean/clean.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "compiler/base/counted.h"
#include "compiler/base/page.h"
#include "compiler/base/printable.h"
#include "runtime/clean/leftovers.h"
#include "runtime/install/call_rebinding.h"
#include "runtime/memory/debug_list.h"
#include "runtime/memory/early_block.h"
#include "runtime/memory/raised_semaphores.h"
#include "runtime/memory/rseq_areas.h"
#include "runtime/memory/session_end.h"
#include "runtime/memory/thread_rows.h"
#include "runtime/output/messages.h"
#include "runtime/process/exit_watch.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/signal_actions.h"
#include "runtime/process/text_patch.h"
#include "runtime/shared/thread_table.h"
#include "runtime/shared/trap.h"
#include "runtime/text/trap_setup.h"

namespace dj {
namespace {

constexpr uint8_t kInt3 = 0xcc;

// Is every byte at this place ours or the original one, and not all the original ones? Then djtap
// wrote there, even if it was killed in the middle of the place.
bool is_ours(const JournalRecord& record, const uint8_t* text) {
  bool changed = false;
  for (size_t i = 0; i < record.bytes; i++) {
    const bool same = text[i] == record.original[i];
    if (!same && text[i] != record.patched[i] && text[i] != kInt3) {
      return false;
    }
    changed = changed || !same;
  }
  return changed;
}

using TrapMap = std::map<uint64_t, uint64_t>;

// Where threads go on that have hit an int3 or a guard and have not got their SIGTRAP. Entries of
// other addresses are left out: a table has hundreds of thousands.
Result<TrapMap> read_traps(const Stopped& stopped, uint64_t address) {
  abi::TrapTable table = {};
  DJ_TRY_DO(stopped.read(address, std::span(reinterpret_cast<uint8_t*>(&table), sizeof table)));
  std::set<uint64_t> wanted;
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(const user_regs_struct regs, stopped.registers(tid));
    wanted.insert(regs.rip - 1);
  }
  TrapMap traps;
  constexpr uint64_t kMost = abi::trap_entries(kMostJournalRecords), kPart = 4096;
  const uint64_t count = std::min(abi::trap_table_entries(table), kMost);
  std::vector<abi::TrapEntry> part(kPart);
  for (uint64_t at = 0; at < count; at += kPart) {
    part.resize(std::min(kPart, count - at));
    const std::span bytes(reinterpret_cast<uint8_t*>(part.data()), part.size() * sizeof part[0]);
    if (!stopped.read(address + abi::kTrapEntriesAt + at * sizeof part[0], bytes).ok()) break;
    for (const abi::TrapEntry& entry : part) {
      if (entry.address != 0 && wanted.contains(entry.address))
        traps[entry.address] = abi::trap_detour(entry);
    }
  }
  return traps;
}

// Of those at one address, which have records for the forms that the place has had; the number
// left.
size_t keep_longest(std::vector<TextPatch>& patches) {
  std::sort(patches.begin(), patches.end(), [](const TextPatch& a, const TextPatch& b) {
    return std::pair(a.address, b.bytes.size()) < std::pair(b.address, a.bytes.size());
  });
  const auto others = std::ranges::unique(patches, {}, &TextPatch::address);
  patches.erase(others.begin(), others.end());
  return patches.size();
}

Result<size_t> restore(const Stopped& stopped, const std::vector<JournalRecord>& records,
                       bool hooks) {
  TextReader text(stopped);
  std::vector<TextPatch> patches;
  for (const JournalRecord& record : records) {
    uint8_t now[sizeof record.original];
    if (record.hook != hooks || !text.read(record.address, std::span(now).first(record.bytes)) ||
        !is_ours(record, now)) {
      continue;
    }
    patches.push_back(
        {record.address, arch::JumpBytes(std::span(record.original).first(record.bytes))});
  }
  const size_t places = keep_longest(patches);
  DJ_TRY_DO(write_patches(stopped, std::move(patches)));
  return places;
}

TrapBefore trap_before(const FoundJournal& journal, const abi::AppAction& app) {
  TrapBefore before{app, {}, {}};
  for (int signal = 1; signal < 65; signal++) {
    if (journal.header.masked[signal] != 0) {
      before.masks.emplace_back(signal, journal.header.masked[signal]);
    }
  }
  before.blocked.assign(journal.header.blocked,
                        journal.header.blocked + journal.header.blocked_count);
  return before;
}

// Is the text patched at one of these places, which ascend?
Result<bool> stands(pid_t pid, const std::vector<JournalRecord>& records, const Effort& effort) {
  const RunningMemory memory(pid);
  std::vector<uint8_t> page(kPage);
  uint64_t page_at = 1;
  bool readable = false;
  for (const JournalRecord& record : records) {
    uint8_t now[sizeof record.original];
    for (size_t i = 0; i < record.bytes; i++) {
      const uint64_t address = record.address + i;
      if (address / kPage * kPage != page_at) {
        DJ_TRY_DO(effort.check());
        page_at = address / kPage * kPage;
        readable = memory.read(page_at, page.data(), kPage);
      }
      now[i] = readable ? page[address - page_at] : record.original[i];
    }
    if (is_ours(record, now)) return true;
  }
  return false;
}

}  // namespace

Result<bool> is_patched(pid_t pid, const FoundJournal& journal, const Effort& effort) {
  DJ_TRY_DO(effort.check());
  DJ_TRY(const std::vector<JournalRecord> records, read_records(pid, journal));
  DJ_TRY(const bool patched, stands(pid, records, effort));
  if (patched || has_not_ended(pid, journal.header.threads, journal.inode)) return true;
  DJ_TRY(const std::vector<JournalCall> calls, read_calls(pid, journal));
  // Looks at all of the text.
  DJ_TRY(const auto patches, journaled_calls(pid, calls, records, [&] { return effort.check(); }));
  return !patches.empty();
}

Result<size_t> clean(Stopped& stopped, const FoundJournal& journal) {
  DJ_TRY(std::vector<JournalRecord> records, read_records(stopped.pid(), journal));
  const bool trap = journal.header.trap_table != 0;
  if (trap) {
    DJ_TRY(TrapMap traps, read_traps(stopped, journal.header.trap_table));
    DJ_TRY_DO(stopped.take_back_traps([&](uint64_t address) {
      auto found = traps.find(address);
      return found == traps.end() ? 0 : found->second;
    }));
  }
  DJ_TRY(const std::vector<JournalCall> calls, read_calls(stopped.pid(), journal));
  const Effort effort(stopped.pid());
  DJ_TRY(std::vector<TextPatch> straight,
         journaled_calls(stopped.pid(), calls, records, [&] { return effort.check(); }));
  DJ_TRY_DO(write_patches(stopped, std::move(straight)));
  DJ_TRY(size_t places, restore(stopped, records, false));
  if (journal.header.fault_gates != 0) {
    DJ_TRY_DO(leave_gates(stopped, journal.header.fault_gates));
  }
  const uint64_t threads = journal.header.threads;
  if (trap && threads != 0) {  // no session has a table of traps without one of threads
    DJ_TRY(const abi::AppAction app, own_trap_action(stopped, threads));
    DJ_TRY_DO(give_back_trap(stopped, journal.header.trap_handler, trap_before(journal, app)));
  }
  DJ_TRY_DO(lower_all_semaphores(stopped, threads, journal.inode));
  leave_debug_list(stopped.pid());
  DJ_TRY(size_t hooks, restore(stopped, records, true));
  DJ_TRY_DO(take_rows(stopped));
  DJ_TRY_DO(take_early_block(stopped, threads));
  DJ_TRY_DO(return_shared_areas(stopped, threads, journal.inode));
  if (has_not_ended(stopped.pid(), threads, journal.inode)) DJ_TRY_DO(set_ended(stopped, threads));
  return places + hooks;
}

// Of a session whose djtap was killed the process alone says that it is done: its text and its
// ThreadTable. The journal nobody can write any more.
Result<bool> is_done(pid_t pid, const FoundJournal& journal, const Effort& effort) {
  if (journal.is_held()) return false;
  // To look at the text takes 20 ms for 80,000 places, and a target may keep eight journals.
  if (journal.is_settled(pid)) return true;
  DJ_TRY(bool patched, is_patched(pid, journal, effort));  // a fork of the target may still be
  return !patched;
}

Status check_unheld(pid_t pid, const std::string& also) {
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  for (const FoundJournal& journal : journals) {
    if (journal.is_held()) {
      return Error{fmt::format("process {} is held by another djtap, process {}: end that session "
                               "first (one session a process){}",
                               pid, journal.header.controller, also),
                   Fail::Permission};
    }
  }
  return ok_status();
}

namespace {

// Has a session that is not done been mapped into `pid`, which may run?
Result<bool> is_abandoned(pid_t pid) {
  const Effort effort(pid);
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  for (const FoundJournal& journal : journals) {
    DJ_TRY(bool done, is_done(pid, journal, effort));
    if (!done) return true;
  }
  return false;
}

}  // namespace

Status clean_abandoned(pid_t pid) {
  DJ_TRY(const bool abandoned, is_abandoned(pid));
  if (!abandoned) return ok_status();
  DJ_TRY(Stopped stopped, Stopped::stop(pid));
  DJ_TRY_DO(check_unheld(pid));  // another djtap may have been faster
  const Effort effort(pid);
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  for (const FoundJournal& journal : journals) {
    DJ_TRY(bool done, is_done(pid, journal, effort));
    if (done) {
      continue;
    }
    DJ_TRY(size_t places, clean(stopped, journal));
    if (places == 0) {
      continue;
    }
    report_warning(
        "DJ4905",
        fmt::format("process {} was left probed by djtap {}, which has ended: {} restored", pid,
                    journal.header.controller, counted(places, "place")));
  }
  return ok_status();
}

namespace {

// Of the session whose memory is `inode`. True: it was there.
Result<bool> clean_of(uint64_t inode, pid_t pid) {
  const Effort effort(pid);
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  bool cleaned = false;
  for (const FoundJournal& journal : journals) {
    if (journal.inode != inode) continue;
    DJ_TRY(bool patched, is_patched(pid, journal, effort));
    if (patched) {
      DJ_TRY(Stopped stopped, Stopped::stop(pid));
      DJ_TRY_DO(clean(stopped, journal));
      cleaned = true;
    }
  }
  return cleaned;
}

}  // namespace

std::vector<pid_t> clean_session_processes(uint64_t inode, pid_t except,
                                           std::vector<std::string>& failures) {
  const auto clean_one = [inode](pid_t pid) -> Result<bool> {
    DJ_TRY(const bool cleaned, clean_of(inode, pid));
    DJ_TRY_DO(clear_leftovers(pid));
    return cleaned;
  };
  return for_session_processes(inode, except, clean_one, failures);
}

void clean_process(uint64_t inode, pid_t pid, std::vector<std::string>& failures) {
  const Result<bool> cleaned = clean_of(inode, pid);
  const bool failed = !cleaned.ok() && cleaned.error().kind != Fail::TargetGone;
  if (failed) failures.push_back(cleaned.error().message);
}

Status rewind_hits(Stopped& stopped, const std::set<uint64_t>& memories) {
  DJ_TRY(const std::vector<FoundJournal> journals, find_journals(stopped.pid()));
  for (const FoundJournal& journal : journals) {
    if (!memories.contains(journal.inode) || journal.header.trap_table == 0) continue;
    DJ_TRY(const TrapMap traps, read_traps(stopped, journal.header.trap_table));
    DJ_TRY_DO(stopped.take_back_traps(
        [&](uint64_t address) { return traps.contains(address) ? address : 0; }));
  }
  return ok_status();
}

Result<bool> clean_standing(Stopped& stopped, const std::set<uint64_t>& memories) {
  const Effort effort(stopped.pid());
  DJ_TRY(const std::vector<FoundJournal> journals, find_journals(stopped.pid()));
  for (const FoundJournal& journal : journals) {
    if (!memories.contains(journal.inode)) continue;
    DJ_TRY(const bool patched, is_patched(stopped.pid(), journal, effort));
    if (patched) DJ_TRY_DO(clean(stopped, journal));
  }
  return clear_leftovers(stopped);
}

namespace {

// Has the process, which was let go, ended? On its way out it has no memory.
bool ends(pid_t pid) {
  constexpr int kEndingMs = 200;
  const Result<ExitWatch> watch = ExitWatch::create(pid, false);
  return !watch.ok() || watch.value().ended(kEndingMs);
}

}  // namespace

Result<std::string> clean_command(pid_t pid, bool with_forks) {
  DJ_TRY_DO(check_traceable(pid));
  DJ_TRY_DO(check_unheld(pid));
  const Effort effort(pid);
  DJ_TRY(std::vector<FoundJournal> journals, find_journals(pid));
  size_t places = 0;
  {
    DJ_TRY(Stopped stopped, Stopped::stop(pid));
    for (const FoundJournal& journal : journals) {
      DJ_TRY(bool done, is_done(pid, journal, effort));
      if (done) {
        continue;  // its memory may be gone
      }
      DJ_TRY(size_t here, clean(stopped, journal));
      places += here;
    }
  }
  const Result<bool> cleared = clear_leftovers(pid, Patience::OfCommand);
  if (!cleared.ok() && !ends(pid)) return cleared.error();
  std::string text = fmt::format("process {}: {} restored\n", pid, counted(places, "place"));
  if (cleared.ok() && !cleared.value())
    text += fmt::format(
        "process {}: memory of a session stays, to which a thread comes back; once "
        "it has, djtap clean takes the memory away\n",
        pid);
  if (!with_forks) return text;
  for (const FoundJournal& journal : journals) {
    std::vector<std::string> failures;
    const size_t processes = clean_session_processes(journal.inode, pid, failures).size();
    if (processes != 0)
      text += fmt::format("{} forked from it: restored\n", counted(processes, "process"));
    for (const std::string& failure : failures) text += printable(failure) + "\n";
  }
  return text;
}

}  // namespace dj
