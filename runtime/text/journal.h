// SPDX-License-Identifier: Apache-2.0
// Journal holds what a session writes into the target's text: djtap writes it into the journal
// before it writes it into the text. The journal is a sealed file of its own (shared_file.h) that
// djtap alone writes. It stays mapped in the target (r--) and in all processes that the target
// forks. So a djtap that finds a patched process, after another djtap was killed at any moment, can
// put everything back (clean.h). A program can forge a journal of its own, so the finder believes
// nothing in it that it has not checked.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "compiler/base/result.h"
#include "runtime/text/site_text.h"

namespace dj {

constexpr uint64_t kJournalMagic = 0x4c4e524a'4a44ull;  // "DJJRNL"
constexpr uint32_t kJournalVersion = 10;
constexpr uint32_t kBlockedThreads = 1024;
constexpr size_t kMemoryFiles = 4;  // constants, data, code, code that others have, too
// What one journal has at most: djtap does not believe a found journal that says more.
constexpr uint64_t kMostJournalRecords = 1 << 20, kMostJournalCalls = 1 << 18;

// JournalHeader: stands at the journal's begin, in front of the records. Other djtap processes read
// it: a change is a new version.
struct JournalHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t finished;             // 1: djtap has put all back in the target
  int64_t controller;            // pid of djtap
  uint64_t controller_start;     // its start time, as in /proc/PID/stat
  uint64_t files[kMemoryFiles];  // inodes of the memory's other files; 0: it has none
  uint64_t trap_table;           // address of abi::TrapTable; 0: SIGTRAP is not ours
  uint64_t trap_handler;         // the agent's action of SIGTRAP
  uint64_t fault_gates;          // address of abi::FaultGates; 0: no handler is called through them
  uint64_t threads;     // address of abi::ThreadTable; 0: another memory of the session has it
  uint64_t masked[65];  // by signal: its handler, whose sa_mask held SIGTRAP; 0: left alone
  int32_t blocked[kBlockedThreads];  // threads that had SIGTRAP blocked
  uint64_t blocked_count, count;     // entries of blocked, records
  uint64_t calls_at, call_count;     // JournalCalls: offset in the journal, and number
  // The process in which djtap itself has put all back, with its start time; 0: none. The forks of
  // that process may still be patched.
  int64_t restored;
  uint64_t restored_start;
};

// JournalRecord: up to eight bytes of one place. More than eight are several records. A place that
// gets another form gets another record: processes that were forked before still have the earlier
// form.
struct JournalRecord {
  uint64_t address : 56, bytes : 6;
  // led: calls of the place, from the text that it is in, may lead to its jump's detour instead.
  uint64_t led : 1, hook : 1;
  uint8_t original[8], patched[8];  // the same behind the last byte that changes
};
static_assert(sizeof(JournalRecord) == 24);

// JournalCall: direct calls and jumps to `target`, a linkage stub, from the text that the stub is
// in, lead to the detour instead (call_rebinding.h).
struct JournalCall {
  uint64_t target, detour;
};

class Journal {
 public:
  // Returns the bytes that the header and the records of these sites take, also when some of the
  // sites get another form later.
  static uint64_t bytes_for(const SiteList& sites);
  // `view`: djtap's view of zero memory of at least bytes_for(all sites) and bytes_for_calls(calls)
  // bytes. `calls`: how many JournalCalls it has room for, behind the records. Enters djtap as the
  // holder of the target.
  explicit Journal(std::span<uint8_t> view, size_t calls = 0);
  static uint64_t bytes_for_calls(size_t calls) { return calls * sizeof(JournalCall); }

  // Enters the inodes of the files of the memory that the journal belongs to.
  void enter_files(const std::array<uint64_t, kMemoryFiles>& files);
  void enter_threads(uint64_t table);
  // Enters that SIGTRAP will be the agent's. Call it before it is.
  void enter_trap(uint64_t table, uint64_t handler);
  // Enters that the kernel will call handlers of faults through gates. Call it before it does.
  void enter_gates(uint64_t gates);
  void enter_mask(int signal, uint64_t handler);
  void enter_blocked(pid_t tid);
  // Enters the bytes of Registered and Disarmed sites, whose text is the original one now. Call it
  // before the text changes. Fails when the journal is full.
  Status enter(const SiteList& sites);
  // enter() in two steps: what stage() adds counts from commit() on; unstage() forgets it. Before
  // the first commit() no place may be staged twice.
  Status stage(const SiteList& sites);
  void commit();
  void unstage();
  // Enters that calls of the stub will lead to the detour. Call it before the first of them does.
  // Fails when the journal is full.
  Status enter_call(const JournalCall& call);
  // Enters that calls of the place at `address`, which has a record, will lead to its detour. Call
  // it before the first of them does.
  void enter_led(uint64_t address);
  // Enters that djtap has put all back in `target`.
  void finish(pid_t target);
  // Bytes of the records and calls that are in it.
  uint64_t bytes() const { return count_ * sizeof(JournalRecord) + bytes_for_calls(call_count_); }

 private:
  Status stage(uint64_t address, bool hook, std::span<const uint8_t> original,
               std::span<const uint8_t> patched);
  Status append(const JournalRecord& record);
  void know_records();
  JournalHeader& header() const { return *reinterpret_cast<JournalHeader*>(view_.data()); }
  std::span<JournalRecord> records() const;
  std::span<uint8_t> view_;
  // As in the header, which is written and never read.
  uint64_t calls_at_, count_ = 0, call_count_ = 0, blocked_count_ = 0;
  uint64_t staged_ = 0;                         // records, with those that do not count yet
  std::unordered_map<uint64_t, size_t> known_;  // by address: its record; once asked
};

}  // namespace dj
