// SPDX-License-Identifier: Apache-2.0
// KnownMaps: the target's mappings as they were read last, and what djtap has learned of since, so
// that free addresses for one object more are found without all mappings being read again. What the
// program has mapped meanwhile is not there: who maps something by this list must not replace
// anything (MAP_FIXED_NOREPLACE), and reads anew where that fails.
#pragma once
#include <vector>

#include "runtime/process/process.h"

namespace dj {

class KnownMaps {
 public:
  // Forgets what was known. All threads of the process stand.
  Status read(pid_t pid);
  void add(const AddressRange& range);
  void forget() { *this = {}; }
  const std::vector<Mapping>& all() const { return maps_; }
  // Nothing was added since read(): what has no room there has none.
  bool are_complete() const { return maps_.size() == read_; }
  // None were read, or so many added since that reading costs little beside; the program may have
  // unmapped some.
  bool are_old() const { return read_ == 0 || maps_.size() > 2 * read_; }

 private:
  std::vector<Mapping> maps_;
  size_t read_ = 0;
};

}  // namespace dj
