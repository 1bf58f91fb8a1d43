// SPDX-License-Identifier: Apache-2.0
// mount_list() reads what is mounted where, as djtap sees it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dj {

// Mount: a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
struct Mount {
  std::string device;         // "8:1": the same for all mounts of one file system
  std::string root;           // the folder of the file system that is mounted
  std::string place;          // where
  std::string options;        // "rw,noexec"
  std::string type;           // "ext4"
  std::string super_options;  // of the file system
};

std::vector<Mount> mount_list();
// A line of that file; empty: it is none.
std::optional<Mount> parse_mount(const std::string& line);

// Whether `list`, words with commas between them, has this word.
bool has_word(std::string_view list, std::string_view word);

}  // namespace dj
