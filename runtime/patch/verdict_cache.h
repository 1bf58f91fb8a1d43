// SPDX-License-Identifier: Apache-2.0
// VerdictCache: answers of the safety checks of a module, kept on disk between sessions
// (file_cache.h), one file for each module and build of djtap, named by their build-ids.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "arch/x86_64/check_results.h"
#include "runtime/patch/file_cache.h"

namespace dj {

class VerdictCache {
 public:
  explicit VerdictCache(FileCache files) : files_(std::move(files)) {}
  static VerdictCache none() { return VerdictCache(FileCache::none()); }

  // What is kept is kept for a file as it is now (file_identity()), so whoever saves asks when the
  // file is read: by then another may have its name. module: a path. Empty: nothing is kept for it.
  std::string identity(const std::string& module) const;
  // Empty: nothing is kept for this file.
  std::optional<arch::CheckResults> load(const std::string& identity) const;
  // Never fails: it is only a cache.
  void save(const std::string& identity, const arch::CheckResults& known) const;
  // Where `syscall` is to be read in a module's text (ModuleCodes::syscall_bytes), kept apart: it
  // is asked for where nothing else is.
  using Addresses = std::vector<std::vector<uint64_t>>;
  std::optional<Addresses> load_syscalls(const std::string& identity) const;
  void save_syscalls(const std::string& identity, const Addresses& addresses) const;

  const FileCache& files() const { return files_; }

 private:
  FileCache files_;
};

}  // namespace dj
