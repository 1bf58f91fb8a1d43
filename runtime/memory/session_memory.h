// SPDX-License-Identifier: Apache-2.0
// SessionMemory holds the files that djtap and the target share: the arena, its constants and its
// data, at one address in both (of a further process of the session, which has constants of its own
// beside the same data, at that address in the process); the code areas with the stubs; and the
// journal. djtap makes and seals them (shared_file.h): targets write to the data alone. djtap's
// mappings end with this object. Those of the target stay until no thread is inside any more
// (clean/leftovers.h).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/detours/detours.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/arena_place.h"
#include "runtime/memory/known_maps.h"
#include "runtime/memory/shared_code.h"
#include "runtime/memory/shared_file.h"
#include "runtime/memory/target_maps.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/remote_call.h"

namespace dj {

// MemoryRequest: what a set of detours needs of a target's memory.
struct MemoryRequest {
  std::vector<AddressRange> modules;  // that need a code area near
  uint64_t area_bytes = 0;            // of each code area
  uint64_t journal_bytes = 0;         // at least
  ChooseStubs choose_stubs;           // empty: there are no stubs
  SharedCode shared_code;             // at the begin of each code area
};

class SessionMemory {
 public:
  // Maps, all of it zero: the arena in both, of which the target may only read the constants;
  // private memory behind it in each; one code area (r-x in the target) for every cluster of the
  // request's modules that has room within reach; and the journal (r--) at any address. Fails where
  // the target does not have a mapping as djtap made it; then nothing of it is left there.
  static Result<SessionMemory> create(Stopped& stopped, const ArenaPlace& arena,
                                      const MemoryRequest& request);
  // The same for one more process of the session whose `data` these are: it gets constants of its
  // own, of which djtap has its view elsewhere. A program that has not run may make its mappings
  // while djtap fills what it sees of them, until settle(): meanwhile leave its threads alone.
  static Result<SessionMemory> join(Stopped& stopped, const ArenaPlace& arena,
                                    const MemoryRequest& request, const SharedFile& data);
  // Maps more memory for a session that has its arena at `arena_base`: code areas, stubs and a
  // journal for modules that came later, in files of their own. `maps`: the mappings known before,
  // and after.
  static Result<SessionMemory> create_more(Stopped& stopped, uint64_t arena_base,
                                           const MemoryRequest& request, KnownMaps& maps);
  SessionMemory(SessionMemory&& other) noexcept;
  SessionMemory& operator=(SessionMemory&&) = delete;
  ~SessionMemory();

  // Waits until the mappings are there. Fails as join() does, and where they were made does
  // nothing.
  Status settle();

  std::span<uint8_t> arena() const;
  std::span<uint8_t> journal() const { return files_->journal.view(); }  // djtap's view
  // Address of the ThreadTable, the same in both.
  uint64_t threads() const { return place_.threads(); }
  // Address of djtap's view of the constants.
  uint64_t constants() const {
    return joined_ == nullptr ? place_.base
                              : reinterpret_cast<uint64_t>(files_->constants.view().data());
  }
  const SharedFile& data() const { return files_->data; }
  // Gives away the code areas and stubs that it has mapped; call it once. Their bytes are there as
  // long as this object.
  CodeAreas take_code() { return std::move(code_areas_); }
  // Inode of the journal, which every process has that has some of the memory.
  uint64_t inode() const { return files_->journal.inode(); }

 private:
  SessionMemory();
  struct Making;
  static Result<SessionMemory> create(Stopped& stopped, const ArenaPlace& arena,
                                      const MemoryRequest& request, KnownMaps& maps);
  static Result<SessionMemory> begin(Stopped& stopped, const ArenaPlace& arena,
                                     const MemoryRequest& request, KnownMaps& maps,
                                     const SharedFile* joined);
  const SharedFile& shared_data() const { return joined_ != nullptr ? *joined_ : files_->data; }
  Status begin_making(RemoteCall borrowed, const MemoryRequest& request, KnownMaps& maps);
  // Returns where the mappings are; nothing if they were made before.
  Result<std::vector<AddressRange>> end_making();
  Result<std::vector<AreaPlace>> choose_places(const KnownMaps& maps, uint64_t heap,
                                               const MemoryRequest& request);
  Status make_files(uint64_t code_bytes, uint64_t journal_bytes);
  uint64_t stub_bytes() const;  // of the file
  Status map_all(TargetMaps& maps, const std::vector<AreaPlace>& areas);
  Status map_arena(TargetMaps& maps);
  Status map_areas(TargetMaps& maps, const std::vector<AreaPlace>& areas);
  Status map_private_memory(TargetMaps& maps);
  Status finish(RemoteCall& call);
  ArenaPlace place_;
  uint64_t area_bytes_ = 0;
  struct Files {
    SharedFile constants, data, code, journal;
  };
  std::unique_ptr<Files> files_ = std::make_unique<Files>();  // Making has their addresses
  const SharedFile* joined_ = nullptr;  // the data, where another object has made them
  SharedCode shared_code_;
  bool private_mapped_ = false;
  CodeAreas code_areas_;  // until take_code()
  struct Stubs {
    std::vector<StubPages> pages;  // ascending
    uint64_t at = 0;               // in the file of code
  } stubs_;
  std::unique_ptr<Making> making_;  // null: the mappings are there
};

// Returns how many more mappings djtap may make in a process that has `count`: half of what the
// kernel allows it (vm.max_map_count) are the program's.
uint64_t mappings_left(uint64_t count);

// Maps djtap's own private memory; a session without a target needs it, too. False: the place is
// taken.
bool map_private(const ArenaPlace& place);

}  // namespace dj
