// SPDX-License-Identifier: Apache-2.0
// ModuleFiles says where djtap's kernel module is looked for and kept, and where the kernel says
// whether it takes one.
#pragma once
#include <string>

namespace dj {

// Tests have files of their own.
struct ModuleFiles {
  std::string release;  // of the kernel; empty: that of the running one
  std::string headers;  // what a module is built with; empty: MODULES/RELEASE/build
  std::string modules = "/lib/modules";
  std::string kept = "/var/cache/djtap/kernel";

  std::string loaded = "/proc/modules";
  std::string disabled = "/proc/sys/kernel/modules_disabled";
  std::string lockdown = "/sys/kernel/security/lockdown";
  std::string status = "/proc/self/status";  // djtap's user and capabilities
  std::string users = "/proc/self/uid_map";  // of djtap's user namespace

  // The release that is meant.
  std::string kernel() const;
};

// Returns the content of a file; empty: it cannot be read.
std::string text_of(const std::string& path);

}  // namespace dj
