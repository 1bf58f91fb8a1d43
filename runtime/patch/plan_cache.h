// PlanCache: answers of the safety checks of a module, kept on disk between sessions
// (kept_files.h), one file for each module and build of djtap, named by their build-ids.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "arch/x86_64/judged.h"
#include "runtime/patch/kept_files.h"

namespace dj {

class PlanCache {
 public:
  explicit PlanCache(KeptFiles files) : files_(std::move(files)) {}
  static PlanCache none() { return PlanCache(KeptFiles::none()); }

  // module: a path. Empty: nothing is kept for this file as it is now.
  std::optional<arch::Known> load(const std::string& module) const;
  // Never fails: it is only a cache.
  void save(const std::string& module, const arch::Known& known) const;
  // Where `syscall` is to be read in a module's text (ModuleCodes::syscall_bytes), kept apart: it
  // is asked for where nothing else is.
  using Addresses = std::vector<std::vector<uint64_t>>;
  std::optional<Addresses> load_syscalls(const std::string& module) const;
  void save_syscalls(const std::string& module, const Addresses& addresses) const;

  const KeptFiles& files() const { return files_; }

 private:
  KeptFiles files_;
};

}  // namespace dj
