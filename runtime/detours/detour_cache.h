// SPDX-License-Identifier: Apache-2.0
// DetourCache keeps detours between sessions, beside the patches they belong to (patch_cache.h). It
// keeps their bytes, and what in them depends on where they, the handlers and the program's text
// lie.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/stages/image.h"
#include "runtime/patch/file_cache.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// CachedReach: a displacement in a detour, four bytes that lead to `target`.
struct CachedReach {
  uint64_t target = 0;  // ELF address in the place's module; or the index of the place's call
  uint8_t at = 0;       // offset of the four bytes,
  uint8_t end = 0;      // and of the next instruction
  uint8_t is_call = 0;  // 1: `target` is a call, and its handler is the goal
  uint8_t pad[5] = {};
};
// CachedCopy: where an original instruction has its copy: two offsets, in the region and in the
// detour (PatchSite::copies).
struct CachedCopy {
  uint8_t offset = 0, at = 0;
};
struct CachedDetour {
  std::span<const uint8_t> bytes;
  std::span<const uint8_t> note;  // as make_note() gives it
  std::span<const CachedReach> reaches;
  std::span<const CachedCopy> copies;
  uint8_t probe_copy_at = 0;  // where PatchSite::probe_copy lies in the bytes; 0: there is none
};

class CachedDetours {
 public:
  CachedDetours() = default;  // none
  // Reads what pack_detours() gave, for modules where they lie now; empty() if these are not such
  // bytes.
  CachedDetours(CachedBytes kept, const std::vector<MappedModule>& modules);
  bool empty() const { return modules_.empty(); }
  // Returns the detour that was kept for the place in its present form; empty: there is none.
  std::optional<CachedDetour> find(const PatchSite& site);
  struct Row;  // of the file

 private:
  struct Run {
    uint32_t first, count, next;
  };
  CachedBytes kept_;
  std::span<const Row> rows_;
  std::span<const uint8_t> bytes_;
  std::span<const CachedReach> reaches_;
  std::span<const CachedCopy> copies_;
  std::vector<Run> runs_;          // of rows, by index of the module
  std::vector<uint64_t> modules_;  // biases
};

// DetourCache: the detours that an earlier session has left for the plan of this session, or a
// place for those that this session will leave.
class DetourCache {
 public:
  DetourCache() = default;  // finds nothing and keeps nothing
  // `key`: PatchPlan::key; empty: as the constructor without arguments. `abis` say into what
  // handlers count, and how.
  DetourCache(const std::string& key, const std::vector<HandlerAbi>& abis,
              const std::vector<MappedModule>& modules, const FileCache& files);
  std::optional<CachedDetour> find(const PatchSite& site) { return found_.find(site); }
  // Forgets what was read. Call it when all detours are built.
  void close() { found_ = {}; }
  // Whether djtap shall keep this session's detours, in a file name() for key().
  bool wants_detours() const { return !key_.empty() && !is_cached_; }
  std::string name() const;
  const std::string& key() const { return key_; }

 private:
  std::string key_;  // of the file; empty: there is none
  CachedDetours found_;
  bool is_cached_ = false;
};
// Returns the detours of armed places as bytes; leaves out those that are not simple. `view`: gives
// the bytes at an address of a code area. `entry`: gives the address where a call's handler begins.
// `note_of`: gives a detour's note.
std::string pack_detours(
    const std::vector<PatchSite>& sites, const std::vector<MappedModule>& modules,
    const std::function<std::span<const uint8_t>(uint64_t address, uint64_t count)>& view,
    const std::function<uint64_t(const PatchSite&, const PatchCall&)>& entry,
    const std::function<std::span<const uint8_t>(const PatchSite&)>& note_of);

}  // namespace dj
