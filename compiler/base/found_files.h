// SPDX-License-Identifier: Apache-2.0
// Files of the target's system by their usual names (dpkg's lists, /etc/os-release): looked for
// below the target's root, with the rights of read_found_names_as(), and read at once. Nothing is
// kept open, and what a container's owner puts there (fifos, links, endless files) costs a bounded
// time.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dj {

// The content of a regular file; empty: it cannot be read, or has more than 64 MB.
std::string read_found_file(const std::string& path);
// The names in a folder, without "." and "..", in no order: the first 100,000.
std::vector<std::string> names_in_found_folder(const std::string& path);

// A process's mappings are called as djtap would reach them from the root of their mount namespace:
// in a chroot the names begin with where that lies. From now on these are cut off; empty: none is.
void set_targets_root_name(std::string root);
// What the target itself calls a mapped file.
std::string name_in_targets_root(const std::string& path);

// FolderId: a folder, whatever links lead to it.
struct FolderId {
  uint64_t device = 0, inode = 0;
  auto operator<=>(const FolderId&) const = default;
};
std::optional<FolderId> found_folder_id(const std::string& path);  // nothing: there is none

}  // namespace dj
