// SPDX-License-Identifier: Apache-2.0
// ShellCommands runs the commands that the script gives to system(). A shell that djtap starts runs
// them beside the session, never in the target, with djtap's output and the rights that djtap still
// has (no more than the target's).
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
  // Starts `sh -c text` and does not wait for it. Tells on stderr if that fails.
  void run(const std::string& text);
  // Waits until all commands have ended.
  void wait();

 private:
  std::vector<pid_t> running_;
};

}  // namespace dj
