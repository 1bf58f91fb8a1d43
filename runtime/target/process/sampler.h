// SPDX-License-Identifier: Apache-2.0
// Sampler takes the samples of timer.profile. At each tick it stops the running threads of the
// target by ptrace, one after the other. It sends each to code that runs the probe's handler as a
// probe at that very instruction would, and lets it go. It sends no signal, and traces no thread
// between two ticks: system calls go on as if nothing had happened (stopped.h).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "runtime/process/stopped.h"
#include "runtime/process/untrusted.h"

namespace dj {

class Sampler {
 public:
  // rseq_offset: struct rseq minus fs base of the target's threads; empty: they have none.
  Sampler(pid_t pid, std::optional<int64_t> rseq_offset, const ArenaView& arena)
      : pid_(pid), rseq_offset_(rseq_offset), arena_(arena) {}

  // Point: what a probe needs. `code`: address of the code of arch::build_sample(). `done`: address
  // of a word that is not 0 until the sampled thread has come back. `pc`: address of the word of
  // SiteInfo::pc.
  struct Point {
    uint64_t code = 0, done = 0, pc = 0;
  };
  // Takes one sample of each thread that runs now. Waits at most 20 ms for each thread to come
  // back. is_left_alone: says whether a thread at this address must not be sampled.
  void run(const Point& point, const std::function<bool(uint64_t)>& is_left_alone);

  // How many samples of running threads it took, and how many not: the thread was in djtap's code,
  // at a signal, or where it must not be interrupted.
  uint64_t taken() const { return taken_; }
  uint64_t left_out() const { return left_out_; }

 private:
  bool is_busy(const Point& point) const;
  void set_pc(const Point& point, uint64_t pc) const;
  bool sample(const Point& point, pid_t tid, const std::function<bool(uint64_t)>& is_left_alone);
  bool may_interrupt(const Stopped& stopped, pid_t tid, const user_regs_struct& regs) const;

  pid_t pid_;
  std::optional<int64_t> rseq_offset_;
  ArenaView arena_;
  uint64_t taken_ = 0, left_out_ = 0;
};

}  // namespace dj
