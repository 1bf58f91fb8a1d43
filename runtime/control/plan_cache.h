// PlanCache: answers of the safety checks, kept on disk between sessions: one file a module, named
// by its build-id, in $XDG_CACHE_HOME/djtap or ~/.cache/djtap.
//
// A file counts only if it is ours, whole (checksum), of this very build of djtap (its own
// build-id) and of the module as it is now (build-id, size, time of change); any other is as good
// as none, and is replaced.
#pragma once
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

 private:
  struct Key;
  std::optional<Key> key(const std::string& module) const;

  std::string folder_, version_;
};

}  // namespace dj
