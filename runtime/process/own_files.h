// SPDX-License-Identifier: Apache-2.0
// OwnFiles: the files that the user names on the command line for djtap itself: output, control
// socket, what Lua reads. They are opened by his own rights, also when the rest of djtap has given
// these up (broker.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

struct OwnPaths {
  std::string output;             // -o; empty: none
  bool numbered = false;          // the first file is FILE.0, not FILE
  uint32_t kept = 0;              // the newest so many files are kept; 0: all
  std::string control;            // --control; empty: none
  std::vector<std::string> read;  // files to be read
};

// Creates or truncates a file for writing; gives its descriptor. In a folder where others may make
// files (sticky or not) no symbolic link is followed, and a file that is there already is taken
// only if it is a regular file, FIFO or device of the user's own with one name. Fails with a
// sentence that names the file.
Result<int> create_file(const std::string& path);

class OwnFiles {
 public:
  OwnFiles() = default;
  explicit OwnFiles(OwnPaths paths) : paths_(std::move(paths)) {}

  const OwnPaths& paths() const { return paths_; }
  // Creates the output file; called again, the next one: FILE.1, FILE.2 .. Removes the one that is
  // too many then.
  Result<int> next_output();
  // Opens one of paths().read.
  Result<int> open_read(const std::string& path) const;

 private:
  OwnPaths paths_;
  uint32_t made_ = 0;  // output files
};

// A UNIX socket that listens at `path`, which only the user may connect to. Fails if there is
// something at the path.
Result<int> listen_at(const std::string& path);

}  // namespace dj
