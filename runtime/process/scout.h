// SPDX-License-Identifier: Apache-2.0
// Scout is a copy of a launched static program that djtap makes before the program's first
// instruction. The copy runs ahead to where its thread is set up. It tells what is still unknown at
// the entry point: where the thread will have its rseq area, and what the program's words of
// functions will hold.
#pragma once
#include <sys/types.h>

#include <optional>
#include <utility>

#include "compiler/base/result.h"
#include "runtime/process/started_child.h"
#include "runtime/process/stopped.h"
#include "runtime/process/tracee.h"

namespace dj {

class Scout {
 public:
  // Makes the copy and lets it run ahead. `target` is in the stop behind its exec, and stands at
  // its entry point afterwards. Empty: djtap cannot make a copy. While djtap makes the copy, when
  // the program has executed nothing yet, the end of djtap ends the target too; it always ends the
  // scout. The scout makes only system calls that change itself alone, and stops before any other.
  static Result<std::optional<Scout>> send(Tracee& target);
  // The copy has the target's memory at the target's addresses, relocated. The destructor kills it.
  // 0: it has ended by itself.
  pid_t pid() const { return child_.pid(); }
  // The thread's rseq area. Empty: the program has registered none, as far as the scout came.
  const std::optional<RseqArea>& rseq() const { return rseq_; }

 private:
  Scout(StartedChild child, std::optional<RseqArea> rseq) : child_(std::move(child)), rseq_(rseq) {}
  StartedChild child_;
  std::optional<RseqArea> rseq_;
};

}  // namespace dj
