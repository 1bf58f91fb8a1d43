// SPDX-License-Identifier: Apache-2.0
// Reads the environment, and shows on the terminal what is waited for.
#include "runtime/run/debug_servers.h"

#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "compiler/stages/debug_servers.h"
#include "runtime/output/ending_signals.h"
#include "runtime/output/messages.h"
#include "runtime/output/progress.h"

namespace dj {
namespace {

std::string_view of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Ctrl-C waits for the session's loop (HeldSignals); servers are not to be waited for until then.
bool is_end_wanted() {
  sigset_t pending, ending = ending_signals();
  if (sigpending(&pending) != 0) return false;
  for (int signal = 1; signal < NSIG; signal++) {
    if (sigismember(&ending, signal) == 1 && sigismember(&pending, signal) == 1) return true;
  }
  return false;
}

// Makes it where it is not there.
bool is_own_folder(const std::string& path, uid_t user) {
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  struct stat info = {};
  mkdir(path.c_str(), S_IRWXU);
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == user &&
         (info.st_mode & kOthers) == 0;
}

}  // namespace

void let_servers_be_asked(const FileChoices& files) {
  const std::string_view urls = of_environment("DEBUGINFOD_URLS");
  if (!files.debuginfod || urls.find_first_not_of(' ') == std::string_view::npos) return;
  DebugServers servers;
  servers.urls = urls;
  const std::string_view seconds = of_environment("DEBUGINFOD_TIMEOUT");
  std::from_chars(seconds.data(), seconds.data() + seconds.size(), servers.seconds);
  servers.wait = [](const std::string& what, const std::function<void()>& ask) {
    const Progress progress(what);
    ask();
  };
  servers.tell = [](const std::string& why) {
    erase_progress();
    report_warning("DJ4908", why);
  };
  servers.is_over = is_end_wanted;
  use_debug_servers(std::move(servers));
}

void hide_servers_secrets() {
  if (of_environment("DEBUGINFOD_URLS").find('@') == std::string_view::npos) return;
  let_debug_servers_be();
  unsetenv("DEBUGINFOD_URLS");
}

void ask_servers_as(uid_t user) {
  if (of_environment("DEBUGINFOD_URLS").empty()) return;
  const passwd* entry = getpwuid(user);
  if (entry != nullptr && entry->pw_dir != nullptr && access(entry->pw_dir, W_OK | X_OK) == 0) {
    setenv("HOME", entry->pw_dir, 1);
    return;
  }
  // As users of services.
  const std::string folder = fmt::format("/var/tmp/djtap-debuginfod-{}", user);
  if (is_own_folder(folder, user)) {
    setenv("DEBUGINFOD_CACHE_PATH", folder.c_str(), 1);
    return;
  }
  if (may_ask_debug_servers())
    report_warning("DJ4908", fmt::format("user {} has no home, and {} is no folder of that user's "
                                         "alone: no server is asked for debug files",
                                         user, folder));
  let_debug_servers_be();
}

void report_late_debug_files() {
  std::string names;
  for (const std::string& name : end_asking_beside()) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    report_warning("DJ4909",
                   fmt::format("debug files came during the session, for objects that the "
                               "program had opened before: {}; the next session has them",
                               names));
}

}  // namespace dj
