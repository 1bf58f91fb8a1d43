// SPDX-License-Identifier: Apache-2.0
// Sampler: timer.profile. At each tick the threads of the target that run are stopped by ptrace one
// after the other, sent to code that runs the probe's handler as a probe at that very instruction
// would, and let go. No signal is sent, and between two ticks nobody is traced: system calls go on
// as if nothing had happened (stopped.h).
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

  // What a probe needs: the code of arch::build_sample(), the address of its `done`, a word that is
  // not 0 until the sampled thread has come back, and that of the word of SiteInfo::pc.
  struct Point {
    uint64_t code = 0, done = 0, pc = 0;
  };
  // One sample of each thread that runs now. Waits for each, but not long. is_left_alone: of a
  // thread that stands at this address none is taken.
  void run(const Point& point, const std::function<bool(uint64_t)>& is_left_alone);

  // Samples of running threads that were taken, and that were not: the thread was in djtap's code,
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
