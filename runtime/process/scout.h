// SPDX-License-Identifier: Apache-2.0
// Scout: a copy of a launched static program, made before its first instruction, that runs ahead to
// where its thread is set up. It tells what is not known at the entry point: where the thread will
// have its rseq area, and what the program's words of functions will hold.
#pragma once
#include <sys/types.h>

#include <optional>
#include <utility>

#include "compiler/base/result.h"
#include "runtime/process/started_child.h"
#include "runtime/process/stopped.h"

namespace dj {

class Scout {
 public:
  // `target` is in the stop behind its exec, and stands at its entry point afterwards. Empty: no
  // copy can be made. While it is made, nothing of the program executed, the end of djtap is the
  // target's, too; that of the scout is it always. The scout makes only system calls that change
  // itself alone, and stops before any other.
  static Result<std::optional<Scout>> send(StartedChild& target);
  // It has the target's memory at the target's addresses, relocated. Killed when this dies. 0: it
  // has ended by itself.
  pid_t pid() const { return child_.pid(); }
  // Empty: the program has registered none, as far as the scout came.
  const std::optional<RseqArea>& rseq() const { return rseq_; }

 private:
  Scout(StartedChild child, std::optional<RseqArea> rseq) : child_(std::move(child)), rseq_(rseq) {}
  StartedChild child_;
  std::optional<RseqArea> rseq_;
};

}  // namespace dj
