// SPDX-License-Identifier: Apache-2.0
// object_point() gives the front of a probe point: what of a script names the object that a path
// is. listed_module() gives the name of a kernel's module as the kernel has it.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace dj {

// What djtap calls the running kernel and its modules ("kernel/ext4") where others have a path,
// which begins with '/'.
inline constexpr std::string_view kKernelPath = "kernel", kKernelModules = "kernel/";

// How the kernel lists a module whose file may have '-' in its name. A set ("ext[2-4]") stays.
inline std::string listed_module(std::string name) {
  if (name.find('[') == std::string::npos) std::ranges::replace(name, '-', '_');
  return name;
}

// process("/bin/ls"), kernel, module("ext4").
inline std::string object_point(std::string_view path) {
  if (path == kKernelPath) return std::string(path);
  const bool is_module = path.starts_with(kKernelModules);
  const std::string_view name = is_module ? path.substr(kKernelModules.size()) : path;
  return std::string(is_module ? "module" : "process") + "(\"" + std::string(name) + "\")";
}

}  // namespace dj
