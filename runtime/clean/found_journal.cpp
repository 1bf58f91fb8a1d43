// SPDX-License-Identifier: Apache-2.0
// All of it is read from the process's own memory, once.
#include "runtime/clean/found_journal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/session_processes.h"

namespace dj {
namespace {

// Of one process: sessions keep eight, and one more for each time that they probed later objects.
constexpr size_t kMostJournals = 4096;
// Of those that are not settled.
constexpr uint64_t kMostRecords = 2 * kMostJournalRecords, kMostCalls = 2 * kMostJournalCalls;

// May djtap have left a journal so, in a mapping of `bytes`?
bool is_possible(const JournalHeader& header, uint64_t bytes) {
  const auto fits = [](uint64_t begin, uint64_t end, uint64_t count, uint64_t each) {
    return begin <= end && count <= (end - begin) / each;
  };
  return header.count <= kMostJournalRecords && header.call_count <= kMostJournalCalls &&
         fits(sizeof header, header.calls_at, header.count, sizeof(JournalRecord)) &&
         fits(header.calls_at, bytes, header.call_count, sizeof(JournalCall)) &&
         header.blocked_count <= kBlockedThreads && header.controller > 0 &&
         header.controller <= INT32_MAX;
}

// `memory`: of the process that has the mapping. Nothing: it is none.
std::optional<FoundJournal> journal_in(const RunningMemory& memory, const Mapping& m) {
  FoundJournal journal = {m.device, m.inode, m.begin, {}};
  const bool is_one = m.end - m.begin >= sizeof journal.header && m.offset == 0 &&
                      memory.read(m.begin, &journal.header, sizeof journal.header) &&
                      journal.header.magic == kJournalMagic;
  return is_one ? std::optional(journal) : std::nullopt;
}

template <typename Entry>
Status read_entries(pid_t pid, uint64_t address, std::vector<Entry>& entries) {
  const RunningMemory memory(pid);
  if (memory.read(address, entries.data(), entries.size() * sizeof(Entry))) return ok_status();
  return os_error(fmt::format("cannot read the journal in process {}", pid));
}

// Keeps the records of places in private memory of files, or of the vdso. Both are ascending.
void keep_places(std::vector<JournalRecord>& records, const std::vector<Mapping>& maps) {
  auto m = maps.begin();
  std::erase_if(records, [&](const JournalRecord& record) {
    if (record.bytes == 0 || record.bytes > sizeof record.original) return true;
    while (m != maps.end() && m->end <= record.address) ++m;
    return m == maps.end() || record.address < m->begin || m->shared ||
           (m->inode == 0 && m->path != "[vdso]");
  });
}

// The name of a process's program, without the folder; where it may not be seen, what the process
// calls itself.
std::string program_of(const std::string& pid) {
  std::error_code error;
  std::string name = std::filesystem::read_symlink("/proc/" + pid + "/exe", error).filename();
  if (name.empty()) std::getline(std::ifstream("/proc/" + pid + "/comm"), name);
  return name.substr(0, name.find(" (deleted)"));
}

bool is_djtap(pid_t pid) {
  const std::string name = program_of(std::to_string(pid));
  return name == "djtap" || name == program_of("self");
}

// Does `pid` write to the file through a mapping of its own? True where it may not be looked at.
bool writes_to(pid_t pid, uint64_t device, uint64_t inode) {
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  if (!maps.ok()) return maps.error().kind == Fail::Permission;
  return std::ranges::any_of(maps.value(), [&](const Mapping& m) {
    return m.write && m.shared && m.device == device && m.inode == inode;
  });
}

}  // namespace

bool FoundJournal::is_held() const {
  const auto pid = static_cast<pid_t>(header.controller);
  if (header.finished != 0 || start_time(pid) != header.controller_start) return false;
  return is_djtap(pid) && writes_to(pid, device, inode);
}

bool FoundJournal::is_settled(pid_t pid) const {
  return header.finished != 0 && header.restored == pid && start_time(pid) == header.restored_start;
}

Result<std::vector<FoundJournal>> find_journals(pid_t pid) {
  DJ_TRY(const std::vector<Mapping> maps, read_maps(pid));
  const RunningMemory memory(pid);
  std::vector<FoundJournal> journals;
  std::set<uint64_t> seen;
  uint64_t records = 0, calls = 0;
  for (const Mapping& m : maps) {
    if (!is_session_memory(m) || m.write || m.exec || !m.read || !memory.is_open()) continue;
    if (!seen.insert(m.inode).second) continue;
    const std::optional<FoundJournal> journal = journal_in(memory, m);
    if (!journal) continue;
    if (journal->header.version != kJournalVersion)
      return Error{fmt::format("process {} was probed by another version of djtap", pid)};
    if (!is_possible(journal->header, m.end - m.begin)) continue;
    const bool settled = journal->is_settled(pid);
    records += settled ? 0 : journal->header.count;
    calls += settled ? 0 : journal->header.call_count;
    if (journals.size() == kMostJournals || records > kMostRecords || calls > kMostCalls)
      return Effort::too_much(pid);
    journals.push_back(*journal);
  }
  std::stable_sort(journals.begin(), journals.end(),
                   [](const auto& a, const auto& b) { return a.session() > b.session(); });
  return journals;
}

Result<std::vector<JournalRecord>> read_records(pid_t pid, const FoundJournal& journal) {
  std::vector<JournalRecord> records(journal.header.count);
  DJ_TRY_DO(read_entries(pid, journal.address + sizeof(JournalHeader), records));
  DJ_TRY(const std::vector<Mapping> maps, read_maps(pid));
  const auto is_before = [](const JournalRecord& a, const JournalRecord& b) {
    return a.address < b.address;
  };
  std::stable_sort(records.begin(), records.end(), is_before);
  keep_places(records, maps);
  return records;
}

Result<std::vector<JournalCall>> read_calls(pid_t pid, const FoundJournal& journal) {
  std::vector<JournalCall> calls(journal.header.call_count);
  DJ_TRY_DO(read_entries(pid, journal.address + journal.header.calls_at, calls));
  return calls;
}

}  // namespace dj
