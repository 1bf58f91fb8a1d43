// SPDX-License-Identifier: Apache-2.0
// UnprobedProcesses holds the processes that are meant and cannot be probed, and why. On a machine
// with a thousand of them it tells each reason once.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

class UnprobedProcesses {
 public:
  void add(int pid, const Error& why);
  bool has(int pid) const { return pids_.contains(pid); }
  // Warns (DJ5914) of those that were added since the last call for other reasons than those that
  // were told before.
  void report();

 private:
  std::map<std::string, std::vector<int>> new_;  // by the reason, without the process's number
  std::set<std::string> told_;                   // reasons
  std::set<int> pids_;
};

}  // namespace dj
