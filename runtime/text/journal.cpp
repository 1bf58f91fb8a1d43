// SPDX-License-Identifier: Apache-2.0
// Records go in first, their number last: whenever djtap is killed, what counts is whole.
#include "runtime/text/journal.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/process/process.h"

namespace dj {
namespace {

constexpr size_t kRecordPiece = sizeof(JournalRecord::original);

// A plain store in memory that outlives us, in program order.
template <typename T>
void publish(T& word, T value) {
  std::atomic_ref<T>(word).store(value, std::memory_order_release);
}

bool says_the_same(const JournalRecord& a, const JournalRecord& b) {
  return a.bytes == b.bytes && std::ranges::equal(a.original, b.original) &&
         std::ranges::equal(a.patched, b.patched);
}

}  // namespace

uint64_t Journal::bytes_for(const SiteList& sites) {
  uint64_t records = 0;
  for (const PatchSite* site : sites) {
    const uint64_t pieces =
        site->form ? (site->original.size() + kRecordPiece - 1) / kRecordPiece : 0;
    records += 2 * pieces + 1;  // its form, another one without guards, an int3
  }
  return sizeof(JournalHeader) + records * sizeof(JournalRecord);
}

Journal::Journal(std::span<uint8_t> view, size_t calls)
    : view_(view), calls_at_(view.size() - bytes_for_calls(calls)) {
  CHECK(view_.size() >= sizeof(JournalHeader) + bytes_for_calls(calls));
  header().calls_at = calls_at_;
  header().version = kJournalVersion;
  header().controller = getpid();
  static const uint64_t own_start = start_time(getpid()).value_or(0);
  header().controller_start = own_start;
  publish(header().magic, kJournalMagic);
}

std::span<JournalRecord> Journal::records() const {
  return {reinterpret_cast<JournalRecord*>(view_.data() + sizeof(JournalHeader)),
          (calls_at_ - sizeof(JournalHeader)) / sizeof(JournalRecord)};
}

void Journal::enter_files(const std::array<uint64_t, kMemoryFiles>& files) {
  std::ranges::copy(files, header().files);
}

void Journal::enter_trap(uint64_t table, uint64_t handler) {
  header().trap_handler = handler;
  publish(header().trap_table, table);
}

void Journal::enter_threads(uint64_t table) { publish(header().threads, table); }

void Journal::enter_gates(uint64_t gates) { publish(header().fault_gates, gates); }

void Journal::enter_mask(int signal, uint64_t handler) {
  publish(header().masked[signal], handler);
}

void Journal::enter_blocked(pid_t tid) {
  if (blocked_count_ == kBlockedThreads) return;
  header().blocked[blocked_count_] = tid;
  publish(header().blocked_count, ++blocked_count_);
}

Status Journal::enter(const SiteList& sites) {
  DJ_TRY_DO(stage(sites));
  commit();
  return ok_status();
}

void Journal::commit() {
  count_ = staged_;
  publish(header().count, count_);
}

void Journal::unstage() {
  staged_ = count_;
  std::erase_if(known_, [this](const auto& entry) { return entry.second >= staged_; });
}

void Journal::know_records() {
  if (!known_.empty()) return;
  for (uint64_t i = 0; i < count_; i++) {
    known_[records()[i].address] = i;
  }
}

Status Journal::stage(const SiteList& sites) {
  know_records();
  for (const PatchSite* site : sites) {
    if (!site->is_waiting()) {
      continue;
    }
    // Unchanged bytes of the same instructions go in too, so that they are known again later.
    arch::JumpBytes patched = site->patched();
    const size_t whole = std::min(site->original.size(), kRecordPiece);
    const size_t bytes = site->overlapped() != 0 ? patched.size() : std::max(patched.size(), whole);
    for (size_t i = patched.size(); i < bytes; i++) {
      patched.push_back(site->original[i]);
    }
    std::span<const uint8_t> original = std::span(site->original).first(bytes);
    for (size_t at = 0; at < bytes; at += kRecordPiece) {
      const size_t piece = std::min(kRecordPiece, bytes - at);
      DJ_TRY_DO(stage(site->address + at, site->hook, original.subspan(at, piece),
                      std::span(patched).subspan(at, piece)));
    }
  }
  return ok_status();
}

Status Journal::stage(uint64_t address, bool hook, std::span<const uint8_t> original,
                      std::span<const uint8_t> patched) {
  JournalRecord next = {};
  next.address = address;
  next.bytes = original.size();
  next.hook = hook;
  std::ranges::copy(original, next.original);
  std::ranges::copy(patched, next.patched);
  if (count_ == 0) {
    return append(next);
  }
  auto [known, fresh] = known_.try_emplace(address, staged_);
  if (!fresh && says_the_same(records()[known->second], next)) return ok_status();
  known->second = staged_;
  return append(next);
}

Status Journal::append(const JournalRecord& record) {
  if (staged_ == std::min<uint64_t>(records().size(), kMostJournalRecords)) {
    return Error{"the session's journal is full"};
  }
  records()[staged_++] = record;
  return ok_status();
}

Status Journal::enter_call(const JournalCall& call) {
  const uint64_t at = calls_at_ + bytes_for_calls(call_count_);
  if (at + sizeof call > view_.size() || call_count_ == kMostJournalCalls)
    return Error{"the session's journal is full"};
  memcpy(&view_[at], &call, sizeof call);
  publish(header().call_count, ++call_count_);
  return ok_status();
}

void Journal::enter_led(uint64_t address) {
  know_records();
  const auto known = known_.find(address);
  CHECK(known != known_.end());
  records()[known->second].led = 1;  // one byte of the record, in whatever order it gets there
}

void Journal::finish(pid_t target) {
  header().restored = target;
  header().restored_start = start_time(target).value_or(0);
  publish(header().finished, 1u);
}

}  // namespace dj
