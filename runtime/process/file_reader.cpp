// SPDX-License-Identifier: Apache-2.0
// The ids by which the kernel checks files stand last in their lines of /proc/PID/status.
#include "runtime/process/file_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "runtime/process/view.h"

namespace dj {
namespace {

std::vector<uint32_t> numbers_behind(const std::string& status, const std::string& field) {
  const size_t at = status.find("\n" + field + ":");
  std::istringstream line(at == std::string::npos
                              ? ""
                              : status.substr(at + field.size() + 2,
                                              status.find('\n', at + 1) - at - field.size() - 2));
  std::vector<uint32_t> numbers;
  for (uint32_t number; line >> number;) numbers.push_back(number);
  return numbers;
}

// The same folder at the root, in the same mount namespace.
bool shares_root(const std::string& process) {
  for (const char* each : {"/root", "/ns/mnt"}) {
    struct stat own = {}, theirs = {};
    if (stat(("/proc/self" + std::string(each)).c_str(), &own) != 0 ||
        stat((process + each).c_str(), &theirs) != 0 || own.st_dev != theirs.st_dev ||
        own.st_ino != theirs.st_ino) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<FileReader> reader_of(pid_t pid) {
  if (is_in_view()) return std::nullopt;
  const std::string process = "/proc/" + std::to_string(pid);
  if (geteuid() != 0) {
    const bool has_other_root =
        access((process + "/root").c_str(), X_OK) == 0 && !shares_root(process);
    if (!has_other_root) return std::nullopt;
    FileReader own;
    own.root = process + "/root";
    return own;
  }
  std::ifstream file(process + "/status");
  std::stringstream text;
  text << file.rdbuf();
  const std::vector<uint32_t> uids = numbers_behind(text.str(), "Uid");
  const std::vector<uint32_t> gids = numbers_behind(text.str(), "Gid");
  constexpr uint32_t kNobody = 65534;  // of a process that has ended
  FileReader reader;
  reader.uid = uids.empty() ? kNobody : uids.back();
  reader.gid = gids.empty() ? kNobody : gids.back();
  reader.groups = numbers_behind(text.str(), "Groups");
  if (!shares_root(process)) reader.root = process + "/root";
  return reader.uid == 0 && reader.root.empty() ? std::nullopt : std::optional(reader);
}

std::string root_name_of(pid_t pid) {
  if (is_in_view()) return root_in_view();
  std::error_code error;
  const std::filesystem::path root =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/root", error);
  return error ? "/" : root.string();
}

}  // namespace dj
