// PlanCache: answers of the safety checks, kept on disk between sessions: one file for each module
// and build of djtap, named by their build-ids, in $XDG_CACHE_HOME/djtap or ~/.cache/djtap. When
// they are more than kMostKept, those go that were not used for longest.
//
// A file counts only if it is ours, whole (checksum), of this very build of djtap (its own
// build-id) and of the module as it is now (build-id, size, time of change); any other is as good
// as none, and is replaced.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "arch/x86_64/judged.h"

namespace dj {

class PlanCache {
 public:
  // The user's; keeps nothing where there is no such place.
  static PlanCache of_user();
  static PlanCache none() { return PlanCache("", ""); }
  // In `folder`, for the analysis `version`. Empty: keeps nothing.
  PlanCache(std::string folder, std::string version)
      : folder_(std::move(folder)), version_(std::move(version)) {}

  std::optional<arch::Known> load(const std::string& module) const;
  // Writes a file beside and renames it. Never fails: it is only a cache.
  void save(const std::string& module, const arch::Known& known) const;
  static constexpr uint64_t kMostKept = 256 << 20;  // bytes
  // Removes the files in the folder that were not used for longest, until the others have `most`
  // bytes in all.
  void trim(uint64_t most) const;

 private:
  struct Key;
  std::optional<Key> key(const std::string& module) const;

  std::string folder_, version_;
};

}  // namespace dj
