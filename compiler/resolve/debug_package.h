// SPDX-License-Identifier: Apache-2.0
// Which package of Debian has the debug information of a file that another one has installed.
#pragma once
#include <optional>
#include <string>

namespace dj {

struct DebugPackage {
  std::string name;           // "coreutils-dbgsym"
  std::string owner;          // "coreutils"
  bool is_installed = false;  // of another version, then
  std::string sum;  // MD5, in hex, of the file that `owner` has installed; empty: not known
};

// Reads what dpkg has written down in its folder; of a target with another root folder (a
// container), in the one below that (found_files.h). Nothing: no package has installed the file.
std::optional<DebugPackage> debug_package_of(const std::string& path,
                                             const std::string& admin = "/var/lib/dpkg");
// The debuginfod server of the target's distribution, by /etc/os-release.
std::string server_of_distribution(const std::string& os_release = "/etc/os-release");

}  // namespace dj
