// SPDX-License-Identifier: Apache-2.0
// Served knows the processes that a broker (broker.h) may touch: the target and what it has forked,
// as long as they run the same program and have no more rights than the target had when djtap was
// told to trace it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>

#include "runtime/process/file_number.h"
#include "runtime/process/rights.h"

namespace dj {

class Served {
 public:
  // pidfd: of the target.
  Served(pid_t target, int pidfd, Rights rights);
  // Returns the process of thread (or process) `id`, if the broker may touch it at this moment;
  // else 0. If the process could not be exchanged meanwhile, an answer also holds for what the
  // broker did to it just before the question.
  pid_t process_of(pid_t id);

 private:
  bool is_known(pid_t pid) const;
  bool is_session_process(pid_t pid) const;
  bool has_no_more_rights(const Credentials& now) const;

  pid_t target_;
  Rights rights_;
  std::optional<FileNumber> program_;
  std::map<pid_t, int> known_;  // pidfds
};

}  // namespace dj
