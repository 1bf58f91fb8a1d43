// SPDX-License-Identifier: Apache-2.0
// One posix_spawn a command.
#include "runtime/output/shell_commands.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "runtime/output/messages.h"
#include "runtime/process/child_wait.h"

namespace dj {

void ShellCommands::run(const std::string& text) {
  std::erase_if(running_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
  // djtap holds signals back and ignores SIGPIPE; the command starts as from a shell.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, pipe;
  sigemptyset(&none);
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &pipe);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh", option = "-c", command = text;
  char* arguments[] = {shell.data(), option.data(), command.data(), nullptr};
  pid_t pid = 0;
  int failed = posix_spawn(&pid, "/bin/sh", nullptr, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    constexpr size_t kShown = 60;
    const char* more = text.size() > kShown ? "..." : "";
    report_undone(
        fmt::format("system(\"{}\"{}): {}", text.substr(0, kShown), more, std::strerror(failed)));
  } else {
    running_.push_back(pid);
  }
}

void ShellCommands::wait() {
  for (pid_t pid : std::exchange(running_, {})) {
    if (!wait_for_child(pid))
      report_undone(fmt::format("told to end: a command of system() goes on, process {}", pid));
  }
}

}  // namespace dj
