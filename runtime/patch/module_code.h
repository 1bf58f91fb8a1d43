// SPDX-License-Identifier: Apache-2.0
// ModuleCodes: the machine code of mapped modules and its safety checker, read and analysed once
// per file, and once more where another file has come to have its name.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/text.h"
#include "compiler/base/result.h"
#include "compiler/base/spare_thread.h"
#include "compiler/stages/plan.h"
#include "runtime/patch/verdict_cache.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// How to read a module's text; compiler/debuginfo provides it. Any thread may.
using ReadText = std::function<Result<arch::ModuleText>(const std::string& open_path)>;

struct ModuleCode {
  std::vector<arch::TextRange> text;  // from the file, ELF addresses
  std::unique_ptr<arch::Checker> checker;
  // `bytes` at ELF address `address`; empty if they are not all there.
  std::span<const uint8_t> at(uint64_t address, uint64_t bytes) const;
  // Checker::exits(), kept: those of one function are asked for by several.
  const arch::Exits& exits(uint64_t begin, uint64_t end);
  // Whether the entry `site` is a part of another function that only its jumps tell of. Names and
  // unwind information have told of others when the script was resolved.
  bool is_nameless_part(const Site& site) const;
  std::string identity;   // VerdictCache::identity(), when the file was read
  size_t remembered = 0;  // CheckResults::size() when an earlier session's answers were read

 private:
  std::map<std::pair<uint64_t, uint64_t>, arch::Exits> exits_;
};

// An executable segment as it stands in the file, ELF address.
using RawText = arch::TextRange;
// Where the two bytes of `syscall` stand in it, whatever they are: ELF addresses, ascending.
std::vector<uint64_t> find_syscall_bytes(const RawText& range);

class ModuleCodes {
 public:
  // `cache`: where answers of earlier sessions are looked for.
  explicit ModuleCodes(ReadText read_text, VerdictCache cache = VerdictCache::none())
      : read_text_(std::move(read_text)), cache_(std::move(cache)) {}
  ModuleCodes(ModuleCodes&&) = default;
  const ReadText& read_text() const { return read_text_; }
  // Text with its checker. Costs an analysis the first time.
  Result<ModuleCode*> get(const MappedModule& module);
  // Begins to read this module's text beside what follows; get() waits for it. For one module.
  void read_ahead(const MappedModule& module);
  // Leaves what is new since the last call to later sessions. Never fails: it is only a cache.
  void remember();
  // Says what the session's plan was made from: with the same key it would be the same. Empty: that
  // is not known, and what is found for it is not kept.
  std::string plan_key;
  // Files of earlier sessions, of all kinds; and what remember() will write there. Empty `bytes`:
  // nothing.
  const FileCache& file_cache() const { return cache_.files(); }
  void keep(std::string name, std::string key, std::string bytes) {
    if (!bytes.empty()) new_files_.push_back({std::move(name), std::move(key), std::move(bytes)});
  }
  // What keep() was given for this name and key and remember() has not written yet; null: nothing.
  const std::string* cached_by_now(const std::string& name, const std::string& key) const;
  // The bytes alone, cheap; empty if the file cannot be read, or is another by now.
  const std::vector<RawText>& raw(const MappedModule& module) { return file(module).text; }
  // find_syscall_bytes() of each range of raw().
  const std::vector<std::vector<uint64_t>>& syscall_bytes(const MappedModule& module);

 private:
  using Key = std::pair<std::string, std::optional<FileVersion>>;  // open_path, version
  static Key key_of(const MappedModule& module) { return {module.open_path, module.version}; }
  struct File {
    std::string identity;  // VerdictCache::identity(), when the file was read
    std::vector<RawText> text;
  };
  const File& file(const MappedModule& module);
  Result<std::unique_ptr<ModuleCode>> read(const MappedModule& module);
  Result<arch::ModuleText> text_of(const MappedModule& module);
  struct Ahead {
    Key key;
    std::optional<Result<arch::ModuleText>> text;  // when the thread has ended
    std::optional<SpareThread> thread;
  };

  ReadText read_text_;
  VerdictCache cache_;
  std::map<Key, std::unique_ptr<ModuleCode>> codes_;
  std::map<Key, Error> failed_;
  std::map<Key, File> files_;
  std::map<Key, std::vector<std::vector<uint64_t>>> syscall_bytes_;
  std::set<Key> new_syscall_bytes_;    // found in this session
  std::vector<TargetFilePtr> mapped_;  // keep the bytes of `files_`
  struct NewFile {
    std::string name, key, bytes;
  };
  std::vector<NewFile> new_files_;
  std::unique_ptr<Ahead> ahead_;  // from read_ahead() until that text is asked for
};

}  // namespace dj
