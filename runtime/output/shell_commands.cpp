// SPDX-License-Identifier: Apache-2.0
// One posix_spawn a command.
#include "runtime/output/shell_commands.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/output/messages.h"
#include "runtime/process/child_wait.h"
#include "runtime/process/open_files.h"

namespace dj {
namespace {

// The first shell sets the limit of open files that djtap had at its start; the second one runs the
// command.
std::vector<std::string> words_for(const std::string& command) {
  const std::optional<rlim_t> files = open_files_before();
  if (!files) return {"sh", "-c", command};
  return {"sh", "-c", fmt::format("ulimit -Sn {}; exec sh -c \"$1\"", *files), "sh", command};
}

}  // namespace

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
  std::vector<std::string> words = words_for(text);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  int failed = posix_spawn(&pid, "/bin/sh", nullptr, &attributes, arguments.data(), environ);
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
