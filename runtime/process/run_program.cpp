// SPDX-License-Identifier: Apache-2.0
// Starts it by posix_spawnp(). The group of its own is what is killed with all children.
#include "runtime/process/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <sstream>

#include "runtime/process/child_wait.h"
#include "runtime/process/os_error.h"

namespace dj {
namespace {

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/sbin:/usr/bin:/sbin:/bin";
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// SpawnPlan: what posix_spawn() is told.
struct SpawnPlan {
  SpawnPlan(const std::string& log, const sigset_t& mask) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnPlan(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
};

}  // namespace

bool is_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
  std::istringstream folders(search_path());
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Result<int> run_program(std::vector<std::string> words, const std::string& log,
                        const sigset_t& mask) {
  const SpawnPlan plan(log, mask);
  std::vector<std::string> environment = {"PATH=" + search_path(), "LC_ALL=C"};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words[0].c_str(), &plan.actions, &plan.attributes,
                                 pointers(words).data(), pointers(environment).data());
  if (error != 0) return os_error(words[0], error);
  const std::optional<int> ended = wait_for_child(pid);
  if (ended) return *ended;
  killpg(pid, SIGKILL);
  kill_child(pid);
  return Error{words[0] + " was ended, as djtap was told to end"};
}

}  // namespace dj
