// SPDX-License-Identifier: Apache-2.0
// open_found_name(): opens a file by a name that stands in a file of the target, with no more
// rights than the target's user has and below the target's root. What is not there is looked for
// below djtap's own root, where that shows the target nothing: by a djtap that has no rights over
// the target's user, and debug files by build id.
#pragma once
#include <optional>
#include <string>

#include "compiler/base/target_file.h"

namespace dj {

// A regular file, for reading; -1: errno says why. reader: nothing means djtap itself.
int open_found_name(const std::string& path, const std::optional<FileReader>& reader);
// The same, but nothing of djtap's own root.
int open_targets_name(const std::string& path, const std::optional<FileReader>& reader);

// The reader that read_found_names_as() was given last.
std::optional<FileReader> found_names_reader();

// A folder, to be listed.
int open_found_folder(const std::string& path, const std::optional<FileReader>& reader);

// The same as open_found_name(), but no link at the end of the path. root: where the name begins
// without a reader; one that may not be opened is djtap's own.
int open_unlinked_name(const std::string& root, const std::string& path,
                       const std::optional<FileReader>& reader);

// Takes over a descriptor of O_PATH and opens its file, if that is a regular one, for reading,
// without waiting. -1: errno says why.
int reopen_regular(int path_fd);

}  // namespace dj
