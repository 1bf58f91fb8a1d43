// SPDX-License-Identifier: Apache-2.0
// KnownOfFiles keeps what djtap has read of files: the next process of a program has the same
// files.
#pragma once
#include <map>
#include <utility>

#include "compiler/base/target_file.h"

namespace dj {

// Key: has a FileVersion, so that a changed file is another one. For one thread.
template <typename Value, typename Key = FileVersion>
class KnownOfFiles {
 public:
  // Null: it is not known. add() leaves the address as it is.
  const Value* find(const Key& key) const {
    const auto found = known_.find(key);
    return found != known_.end() ? &found->second : nullptr;
  }
  // A target may make any number of files: what is too much is read again each time.
  void add(Key key, Value value) {
    constexpr size_t kMost = 10'000;
    if (known_.size() < kMost) known_.emplace(std::move(key), std::move(value));
  }

 private:
  std::map<Key, Value> known_;
};

}  // namespace dj
