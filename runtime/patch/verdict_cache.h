// SPDX-License-Identifier: Apache-2.0
// VerdictCache keeps the answers of a module's safety checks on disk between sessions
// (file_cache.h): one file for each module and build of djtap, named by their build-ids.
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

  // Returns what tells the module's file, as it is now, from others (file_identity()). Ask for it
  // when you read the file: by the time of save() another file may have its name. module: a path.
  // Empty: the cache keeps nothing for it.
  std::string identity(const std::string& module) const;
  // Returns the answers that save() was given for this file; empty: there are none.
  std::optional<arch::CheckResults> load(const std::string& identity) const;
  // Keeps answers for the file. It reports no error: a lost file costs time only.
  void save(const std::string& identity, const arch::CheckResults& known) const;
  // Addresses: where a module's text has the bytes of `syscall` (ModuleCodes::syscall_bytes). The
  // cache keeps them in a file apart, as djtap also asks for them in modules of which it asks
  // nothing else.
  using Addresses = std::vector<std::vector<uint64_t>>;
  std::optional<Addresses> load_syscalls(const std::string& identity) const;
  void save_syscalls(const std::string& identity, const Addresses& addresses) const;

  const FileCache& files() const { return files_; }

 private:
  FileCache files_;
};

}  // namespace dj
