// SPDX-License-Identifier: Apache-2.0
// OwnFiles opens the files that the user names on the command line for djtap itself: output,
// control socket, what Lua reads. It opens them by the user's own rights, also when the rest of
// djtap has given these up (broker.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

struct OwnPaths {
  std::string output;             // -o; empty: none
  bool numbered = false;          // the first file is FILE.0, not FILE
  uint32_t kept = 0;              // how many files stay, the newest; 0: all
  std::string control;            // --control; empty: none
  std::vector<std::string> read;  // files that djtap reads
};

// Creates or truncates a file for writing and returns its descriptor. In a folder where other users
// may make files (sticky or not) it follows no symbolic link, and takes an existing file only if
// that is a regular file, FIFO or device of the user's own with one name. Fails with a sentence
// that names the file.
Result<int> create_file(const std::string& path);

class OwnFiles {
 public:
  OwnFiles() = default;
  explicit OwnFiles(OwnPaths paths) : paths_(std::move(paths)) {}

  const OwnPaths& paths() const { return paths_; }
  // Creates the output file and returns its descriptor. Further calls create FILE.1, FILE.2 .. and
  // remove the oldest file beyond `kept`.
  Result<int> next_output();
  // Opens one of paths().read for reading and returns its descriptor.
  Result<int> open_read(const std::string& path) const;

 private:
  OwnPaths paths_;
  uint32_t made_ = 0;  // output files
};

// Returns a UNIX socket that listens at `path`. Only the user may connect to it. Fails if the path
// exists.
Result<int> listen_at(const std::string& path);

}  // namespace dj
