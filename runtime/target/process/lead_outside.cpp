// SPDX-License-Identifier: Apache-2.0
// Threads that are in the code run on, a moment at a time, and the others stand, until none is.
#include "runtime/target/process/lead_outside.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

#include "runtime/clean/ways_back.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

constexpr uint64_t kOnceNs = 3'000'000;

struct SeenInside {
  uint64_t at = 0;
  int times = 0;  // that it was there before
};

// Inside: the threads that are in code of the session. asleep: some are there in a system call,
// perhaps waiting for djtap.
struct Inside {
  std::vector<pid_t> threads;
  bool asleep = false;
};

// Without those that have slept there for long, which do not wait for djtap. seen: of the looks
// before.
Result<Inside> find_inside(const Stopped& stopped, const std::vector<AddressRange>& code,
                           std::map<pid_t, SeenInside>& seen) {
  constexpr int kLong = 30;
  Inside inside;
  const std::map<pid_t, SeenInside> before = std::exchange(seen, {});
  for (const pid_t tid : stopped.threads()) {
    DJ_TRY(const user_regs_struct regs, stopped.registers(tid));
    const auto is_there = [&](const AddressRange& range) { return range.contains(regs.rip); };
    if (std::ranges::none_of(code, is_there)) continue;
    const auto known = before.find(tid);
    const bool in_call = static_cast<int64_t>(regs.orig_rax) >= 0;
    const bool stays = in_call && known != before.end() && known->second.at == regs.rip;
    const int times = stays ? known->second.times + 1 : 0;
    seen[tid] = {regs.rip, times};
    if (times >= kLong) continue;
    inside.threads.push_back(tid);
    inside.asleep = inside.asleep || in_call;
  }
  return inside;
}

// Whether registers that are saved somewhere lead back to the code.
Result<bool> may_come_back(const Stopped& stopped, const std::vector<AddressRange>& code) {
  DJ_TRY(const std::vector<Mapping> maps, read_maps(stopped.pid()));
  const SavedContexts saved = find_saved_contexts(stopped.pid(), maps, code);
  DJ_TRY(const WaysBack ways, find_ways_back(stopped, code, saved));
  return !saved.are_all || std::ranges::find(ways.used, true) != ways.used.end();
}

// Who sleeps there for long is sent home with the text. Where some saved registers lead back to the
// code, all threads run on.
Status lead_outside(Stopped& stopped, const Outside& outside) {
  constexpr uint64_t kLongestNs = 2'000'000'000;
  constexpr timespec kMoment = {0, 20'000};
  std::map<pid_t, SeenInside> seen;
  for (const uint64_t end = now_ns() + kLongestNs; now_ns() < end;) {
    DJ_TRY(const std::vector<AddressRange> code, outside.find_code(stopped));
    DJ_TRY_DO(outside.rewind(stopped));
    DJ_TRY(Inside inside, find_inside(stopped, code, seen));
    if (inside.threads.empty()) {
      if (!seen.empty()) return ok_status();
      DJ_TRY(const bool may, may_come_back(stopped, code));
      if (!may) return ok_status();
      inside.threads = stopped.threads();
    }
    stopped.release_these(inside.threads);
    if (inside.asleep) outside.serve();
    nanosleep(&kMoment, nullptr);
    DJ_TRY_DO(stopped.stop_others_within(kOnceNs));
  }
  return Error{"it keeps the probes that it has, as a thread may come back to their code",
               Fail::Unsupported};
}

}  // namespace

namespace {

// Whether it may be otherwise soon: a thread is late, or djtap follows an exec of it
// (followed_execs.h).
bool may_pass(const Error& error, int pid) {
  if (error.kind == Fail::Other) return true;
  const Result<ProcessStatus> status = read_status(pid);
  return status.ok() && status.value().tracer == getpid();
}

}  // namespace

// A thread that has not stopped in time stops as soon as it can, and stays: the next try takes it.
Result<Stopped> stop_served(int pid, const Serve& serve) {
  constexpr uint64_t kPatienceNs = 3'000'000'000;
  for (const uint64_t end = now_ns() + kPatienceNs;;) {
    Result<Stopped> stopped = Stopped::stop_within(pid, kOnceNs);
    if (stopped.ok() || !may_pass(stopped.error(), pid) || now_ns() > end) return stopped;
    serve();
  }
}

// A thread that runs on may get into a vfork, and stop no more.
Result<Stopped> stop_outside(int pid, const Outside& outside) {
  constexpr uint64_t kPatienceNs = 5'000'000'000;
  for (const uint64_t end = now_ns() + kPatienceNs;;) {
    DJ_TRY(Stopped stopped, stop_served(pid, outside.serve));
    const Status led = lead_outside(stopped, outside);
    if (led.ok()) return stopped;
    if (!may_pass(led.error(), pid) || now_ns() > end) return led.error();
  }
}

}  // namespace dj
