// SPDX-License-Identifier: Apache-2.0
// Compares, forks the broker, becomes an equal, and looks whether what djtap itself reads can be
// read by that user.
#include "runtime/run/give_up_rights.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "compiler/base/own_data.h"
#include "compiler/base/target_file.h"
#include "compiler/stages/debug_servers.h"
#include "runtime/patch/file_cache.h"
#include "runtime/process/broker.h"
#include "runtime/process/exit_watch.h"
#include "runtime/process/process.h"
#include "runtime/process/rights.h"
#include "runtime/process/view.h"
#include "runtime/run/debug_servers.h"
#include "runtime/run/lowering.h"
#include "runtime/run/show.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

// Files and folders that djtap reads for itself later on: `files`, and its own.
std::vector<std::string> own_files(std::vector<std::string> files) {
  for (const Result<std::string>* own : {&own_tapsets(), &own_lowering()}) {
    if (own->ok()) files.push_back(own->value());
  }
  return files;
}

// Null: all can be read.
std::optional<RightsKept> check_readable(const std::vector<std::string>& files, pid_t pid) {
  std::error_code error;
  for (const std::string& file : files) {
    const int how = fs::is_directory(file, error) ? R_OK | X_OK : R_OK;
    if (access(file.c_str(), how) == 0) continue;
    return RightsKept{"DJ4006",
                      fmt::format("djtap gives up its rights for those of process {}, and user {} "
                                  "may not read {}, which djtap needs: {}",
                                  pid, getuid(), file, std::strerror(errno))};
  }
  return std::nullopt;
}

// djtap keeps analyses in a folder for each user. The user of a container has the number of a user
// outside, who is somebody else, so in a view djtap keeps nothing.
std::optional<RightsKept> enter_view_of(pid_t pid, int pidfd, const Rights& theirs,
                                        const std::vector<std::string>& files) {
  FileCache::work_without();
  Status entered = load_lowering();
  if (entered.ok()) entered = enter_view(pid, pidfd, theirs, files);
  if (entered.ok()) return std::nullopt;
  return RightsKept{
      "DJ4006",
      fmt::format("process {} has fewer rights than djtap and sees other files or processes "
                  "(a container, a chroot), and djtap cannot come to see what it sees: {}; "
                  "with --trust-target djtap keeps its rights, and who can write the "
                  "process's memory may get them",
                  pid, entered.error().message)};
}

std::optional<RightsKept> become_equal_of(const NeededFiles& needed, pid_t pid, int pidfd,
                                          const Rights& mine, const Rights& theirs) {
  const std::vector<std::string> files = own_files(needed.tapsets);
  if (can_take(mine, theirs)) {
    Status started = Broker::start(pid, pidfd, theirs, needed.paths);
    if (!started.ok()) return RightsKept{"DJ5013", started.error().message};
  }
  hide_servers_secrets();
  if (!share_view(mine, theirs)) {
    let_debug_servers_be();  // its root is read-only
    if (auto kept = enter_view_of(pid, pidfd, theirs, files)) return kept;
  } else if (needed.cache) {
    FileCache::work_as(theirs.uids[0], theirs.gids[0]);
  }
  Status became = become_equal(mine, theirs);
  if (!became.ok()) return RightsKept{"DJ4006", became.error().message};
  distrust_own_users_files();
  ask_servers_as(theirs.uids[0]);
  return check_readable(files, pid);
}

}  // namespace

NeededFiles needed_files(const ScriptChoices& script, const ReportChoices& report,
                         const std::string& control_path, bool cache) {
  OwnPaths paths{
      report.output_path, report.rotation.bytes > 0, report.rotation.files, control_path, {}};
  if (report.plugin.ends_with(".lua")) paths.read.push_back(report.plugin);
  if (!report.lua_path.empty()) paths.read.push_back(report.lua_path);
  return {std::move(paths), script.tapsets, cache};
}

std::optional<RightsKept> become_equal_of_target(const TargetChoices& target,
                                                 const NeededFiles& files) {
  const std::optional<pid_t> pid = target.first_pid();
  if (!pid || !target.command.empty() || target.trusted) return std::nullopt;
  const Result<ExitWatch> watch =
      ExitWatch::create(*pid, false);  // held, so that the number stays the process's
  const Result<Rights> mine = rights_of(getpid()), theirs = rights_of(living_thread(*pid));
  const bool gone = !watch.ok() || watch.value().ended() || live_threads(*pid).empty();
  if (gone || !mine.ok()) return std::nullopt;  // told later
  if (mine.value().capabilities == 0)
    return std::nullopt;  // then the kernel lets it trace equals only
  if (!theirs.ok()) return RightsKept{"DJ4006", theirs.error().message};
  if (!exceed(mine.value(), theirs.value())) return std::nullopt;
  return become_equal_of(files, *pid, watch.value().fd(), mine.value(), theirs.value());
}

std::optional<int> give_up_rights(const TargetChoices& target, const NeededFiles& files) {
  const std::optional<RightsKept> kept = become_equal_of_target(target, files);
  if (!kept) return std::nullopt;
  return fail(kExitAttach, kept->code, kept->message);
}

Status check_rights(pid_t id) {
  const Result<Rights> mine = rights_of(getpid()), theirs = rights_of(living_thread(id));
  if (!mine.ok() || mine.value().capabilities == 0) return ok_status();
  if (!theirs.ok()) return theirs.error();
  if (!exceed(mine.value(), theirs.value())) return ok_status();
  return Error{fmt::format("process {} has fewer rights than djtap (user {}); --trust-target "
                           "probes it",
                           theirs.value().process, theirs.value().uids[0]),
               Fail::Permission};
}

}  // namespace dj
