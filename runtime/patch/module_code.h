// SPDX-License-Identifier: Apache-2.0
// ModuleCodes holds the machine code of mapped modules, each with its safety checker. It reads and
// analyses each file once, and once more where another file has taken its name.
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

// ReadText: reads a module's text; compiler/debuginfo provides it. Any thread may call it.
using ReadText = std::function<Result<arch::ModuleText>(const std::string& open_path)>;

struct ModuleCode {
  std::vector<arch::TextRange> text;  // from the file, ELF addresses
  std::unique_ptr<arch::Checker> checker;
  // Returns `bytes` bytes at ELF address `address`; empty if the text does not have them all.
  std::span<const uint8_t> at(uint64_t address, uint64_t bytes) const;
  // Returns Checker::exits() and keeps it: several callers ask for the exits of one function.
  const arch::Exits& exits(uint64_t begin, uint64_t end);
  // Whether the entry `site` is a part of another function that only jumps of that function reveal.
  // resolve() has found other parts by names and unwind information.
  bool is_nameless_part(const Site& site) const;
  std::string identity;   // VerdictCache::identity(), when the file was read
  size_t remembered = 0;  // CheckResults::size() when an earlier session's answers were read

 private:
  std::map<std::pair<uint64_t, uint64_t>, arch::Exits> exits_;
};

// RawText: an executable segment as the file has it; ELF address.
using RawText = arch::TextRange;
// Returns the ELF addresses, ascending, of all pairs of bytes that read `syscall`, be they code or
// data.
std::vector<uint64_t> find_syscall_bytes(const RawText& range);

// FileQuestion: what djtap asks of the bytes of each file that a process has mapped.
enum class FileQuestion : uint8_t { MakesCallsOfRseqSet, MakesCallsOfTrapSet, MaySetGsBase };

class ModuleCodes {
 public:
  // `cache`: has the answers of earlier sessions.
  explicit ModuleCodes(ReadText read_text, VerdictCache cache = VerdictCache::none())
      : read_text_(std::move(read_text)), cache_(std::move(cache)) {}
  ModuleCodes(ModuleCodes&&) = default;
  const ReadText& read_text() const { return read_text_; }
  // Returns the module's text with its checker. The first call for a file costs an analysis. Fails
  // for a file that cannot be read or was replaced, for the vdso, and for code that mono reads and
  // changes itself.
  Result<ModuleCode*> get(const MappedModule& module);
  // Begins to read this module's text in another thread; get() waits for it. Serves one module at a
  // time.
  void read_ahead(const MappedModule& module);
  // Saves what is new since the last call, for later sessions. It reports no error: a lost file
  // costs time only.
  void remember();
  // What the session's plan was made from: with the same key it would be the same. Empty: that is
  // not known, and djtap keeps nothing that it finds for the plan.
  std::string plan_key;
  // Files of earlier sessions, of all kinds. keep() hands over a file that remember() will write
  // there; it ignores empty `bytes`.
  const FileCache& file_cache() const { return cache_.files(); }
  void keep(std::string name, std::string key, std::string bytes) {
    if (!bytes.empty()) new_files_.push_back({std::move(name), std::move(key), std::move(bytes)});
  }
  // Returns what keep() was given for this name and key and remember() has not written yet; null:
  // nothing.
  const std::string* cached_by_now(const std::string& name, const std::string& key) const;
  // Returns the bytes alone, without an analysis. Empty if the file cannot be read, or another file
  // has its name by now.
  const std::vector<RawText>& raw(const MappedModule& module) { return file(module).text; }
  // find_syscall_bytes() of each range of raw().
  const std::vector<std::vector<uint64_t>>& syscall_bytes(const MappedModule& module);
  // Whether raw() may set the gs base (arch::has_wrgsbase()).
  bool may_set_gs_base(const MappedModule& module);
  // Returns what `find` says to a question about raw(), and asks it once: the next process of a
  // program has the same files.
  bool answer(const MappedModule& module, FileQuestion question, const std::function<bool()>& find);

 private:
  using Key = std::pair<std::string, std::optional<FileVersion>>;  // open_path, version
  static Key key_of(const MappedModule& module) { return {module.open_path, module.version}; }
  struct File {
    std::string identity;  // VerdictCache::identity(), when the file was read
    std::vector<RawText> text;
    std::map<FileQuestion, bool> answers;
  };
  File& file(const MappedModule& module);
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
