// SPDX-License-Identifier: Apache-2.0
// ShellCommands: what the script gave to system(): run by djtap's shell beside the session, with
// the rights that djtap has left (no more than the target's) and its output, never in the target.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace dj {

class ShellCommands {
 public:
  ShellCommands() = default;
  ShellCommands(ShellCommands&&) = default;
  ~ShellCommands() { wait(); }
  // Starts `sh -c text` and does not wait for it. One that cannot be started is told on stderr.
  void run(const std::string& text);
  // Until all that were started have ended.
  void wait();

 private:
  std::vector<pid_t> running_;
};

}  // namespace dj
