// SPDX-License-Identifier: Apache-2.0
// KnownMaps holds the target's mappings as djtap read them last, and what djtap has learned of
// since. By it djtap finds free addresses for one more object without reading all mappings again.
// It lacks what the program has mapped meanwhile. So code that maps memory by this list must not
// replace a mapping (MAP_FIXED_NOREPLACE), and reads the list anew where that fails.
#pragma once
#include <vector>

#include "runtime/process/process.h"
#include "runtime/process/stopped.h"

namespace dj {

class KnownMaps {
 public:
  // Forgets what was known and reads all mappings. All threads of the process stand.
  Status read(const Stopped& stopped);
  void add(const AddressRange& range);
  void forget() { *this = {}; }
  const std::vector<Mapping>& all() const { return maps_; }
  // Nothing was added since read(): if an object has no room in the list, the process has none.
  bool are_complete() const { return maps_.size() == read_; }
  // No mappings were read, or so many were added since that reading them again costs little in
  // comparison; the program may have unmapped some.
  bool are_old() const { return read_ == 0 || maps_.size() > 2 * read_; }

 private:
  std::vector<Mapping> maps_;
  size_t read_ = 0;
};

}  // namespace dj
