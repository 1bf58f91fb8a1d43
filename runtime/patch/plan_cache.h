// SPDX-License-Identifier: Apache-2.0
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

  // What is kept is kept for a file as it is now (file_identity()), so whoever saves asks when the
  // file is read: by then another may have its name. module: a path. Empty: nothing is kept for it.
  std::string identity(const std::string& module) const;
  // Empty: nothing is kept for this file.
  std::optional<arch::Known> load(const std::string& identity) const;
  // Never fails: it is only a cache.
  void save(const std::string& identity, const arch::Known& known) const;
  // Where `syscall` is to be read in a module's text (ModuleCodes::syscall_bytes), kept apart: it
  // is asked for where nothing else is.
  using Addresses = std::vector<std::vector<uint64_t>>;
  std::optional<Addresses> load_syscalls(const std::string& identity) const;
  void save_syscalls(const std::string& identity, const Addresses& addresses) const;

  const KeptFiles& files() const { return files_; }

 private:
  KeptFiles files_;
};

}  // namespace dj
