// SPDX-License-Identifier: Apache-2.0
// Which package of Debian has the debug information of a file that another one has installed.
#pragma once
#include <optional>
#include <string>

namespace dj {

struct DebugPackage {
  std::string name;           // "coreutils-dbgsym"
  bool is_installed = false;  // of another version, then
};

// Reads what dpkg has written down (`folder`: its lists of files). Nothing: no package has
// installed the file.
std::optional<DebugPackage> debug_package_of(const std::string& path,
                                             const std::string& folder = "/var/lib/dpkg/info");
// The debuginfod server of this distribution, by /etc/os-release.
std::string server_of_distribution(const std::string& os_release = "/etc/os-release");

}  // namespace dj
