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
#include "runtime/target/arm_report.h"

namespace dj {

class Sampler {
 public:
  // rseq_offset: struct rseq minus fs base of the target's threads; empty: they have none.
  Sampler(pid_t pid, std::optional<int64_t> rseq_offset, const ArenaView& arena)
      : pid_(pid), rseq_offset_(rseq_offset), arena_(arena) {}

  // Point: what a probe needs. `code`: address of the code of arch::build_sample(). `done`: address
  // of a word that is not 0 until the sampled thread has come back. `pc`: address of the word of
  // SiteInfo::pc in djtap's view of the process's constants.
  struct Point {
    uint64_t code = 0, done = 0, pc = 0;
  };
  // Takes one sample of each thread that runs now. Waits at most 20 ms for each thread to come
  // back. is_left_alone: says whether a thread at this address must not be sampled.
  void run(const Point& point, const std::function<bool(uint64_t)>& is_left_alone);

  Samples samples() const { return samples_; }

 private:
  bool is_busy(const Point& point) const;
  static void set_pc(const Point& point, uint64_t pc);
  bool sample(const Point& point, pid_t tid, const std::function<bool(uint64_t)>& is_left_alone);
  bool may_interrupt(const Stopped& stopped, pid_t tid, const user_regs_struct& regs) const;

  pid_t pid_;
  std::optional<int64_t> rseq_offset_;
  ArenaView arena_;
  Samples samples_;
};

}  // namespace dj
