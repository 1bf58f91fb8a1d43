// SPDX-License-Identifier: Apache-2.0
// Journal: what a session writes into the target's text, written down before it is written there.
// It is a sealed file of its own (shared_file.h) that djtap alone writes, and stays mapped in the
// target (r--) and in all that the target forks. So whoever finds a patched process, after djtap
// was killed at any moment, can put everything back (clean.h). A program can forge a journal of its
// own, so whoever finds one believes nothing in it that he has not looked at.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <unordered_map>

#include "compiler/base/result.h"
#include "runtime/text/site_text.h"

namespace dj {

constexpr uint64_t kJournalMagic = 0x4c4e524a'4a44ull;  // "DJJRNL"
constexpr uint32_t kJournalVersion = 9;
constexpr uint32_t kBlockedThreads = 1024;
// What one journal has at most: more is not believed of one that is found.
constexpr uint64_t kMostJournalRecords = 1 << 20, kMostJournalCalls = 1 << 18;

// At the journal's begin; records follow. Other processes read it: a change is a new version.
struct JournalHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t finished;               // 1: all has been put back in the target
  int64_t controller;              // pid of djtap
  uint64_t controller_start;       // its start time, as in /proc/PID/stat
  uint64_t constants, data, code;  // inodes of the memory's other files; 0: it has none
  uint64_t trap_table;             // address of abi::TrapTable; 0: SIGTRAP is not ours
  uint64_t trap_handler;           // the agent's action of SIGTRAP
  uint64_t fault_gates;  // address of abi::FaultGates; 0: no handler is called through them
  uint64_t threads;      // address of abi::ThreadTable; 0: another memory of the session has it
  uint64_t masked[65];   // by signal: its handler, whose sa_mask held SIGTRAP; 0: left alone
  int32_t blocked[kBlockedThreads];  // threads that had SIGTRAP blocked
  uint64_t blocked_count, count;     // entries of blocked, records
  uint64_t calls_at, call_count;     // JournalCalls: offset in the journal, and number
  // The process where djtap itself has put all back, with its start time; 0: none. Its forks may
  // still be patched.
  int64_t restored;
  uint64_t restored_start;
};

// JournalRecord: up to eight bytes of one place. More than eight are several records. A place that
// gets another form gets another record: processes that were forked before still have the earlier.
struct JournalRecord {
  uint64_t address : 56, bytes : 6;
  // led: calls of the place, in the text that it is in, may lead to its jump's detour instead.
  uint64_t led : 1, hook : 1;
  uint8_t original[8], patched[8];  // the same behind the last byte that changes
};
static_assert(sizeof(JournalRecord) == 24);

// JournalCall: direct calls and jumps to `target`, a linkage stub, in the text that it is in, lead
// to the detour instead (rebound_calls.h).
struct JournalCall {
  uint64_t target, detour;
};

class Journal {
 public:
  // Bytes for the records of these sites, also when some of them get another form later.
  static uint64_t bytes_for(const SiteList& sites);
  // `view`: djtap's view of zero memory of at least bytes_for(all sites). Names djtap as the one
  // who holds the target.
  // `calls`: room for so many, behind the records, in bytes_for_calls().
  explicit Journal(std::span<uint8_t> view, size_t calls = 0);
  static uint64_t bytes_for_calls(size_t calls) { return calls * sizeof(JournalCall); }

  // Inodes of the files of the memory that the journal is of.
  void enter_files(uint64_t constants, uint64_t data, uint64_t code);
  void enter_threads(uint64_t table);
  // SIGTRAP will be the agent's; before it is.
  void enter_trap(uint64_t table, uint64_t handler);
  // Handlers of faults will be called through gates; before one is.
  void enter_gates(uint64_t gates);
  void enter_mask(int signal, uint64_t handler);
  void enter_blocked(pid_t tid);
  // The bytes of Registered and Disarmed sites, whose text is the original one now; before it
  // changes.
  Status enter(const SiteList& sites);
  // The same in two steps: what is staged counts from commit() on, and is forgotten by unstage().
  // Before the first commit() no place may be staged twice.
  Status stage(const SiteList& sites);
  void commit();
  void unstage();
  // Calls of the stub will lead to the detour; before the first of them does.
  Status enter_call(const JournalCall& call);
  // Calls of the place at `address`, which has a record, will lead to its detour; before the first
  // of them does.
  void enter_led(uint64_t address);
  // All has been put back in `target`.
  void finish(pid_t target);
  // Of what is in it.
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
