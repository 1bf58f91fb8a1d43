// SessionMemory: the memfd that djtap and the target share: the data arena at one address in both,
// the code islands, and the journal. djtap's mappings end with this object; the target's stay (a
// thread may still be inside).
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/island.h"
#include "runtime/process/process.h"
#include "runtime/process/remote_call.h"

namespace dj {

// StubPages: pages to map for stubs, and where they lie in the memory that all such pages have
// together: several may have the same there, with their stubs at different offsets.
struct StubPages {
  AddressRange range;
  uint64_t at = 0;
};
// Chooses where stubs will lie, when the islands have their places: free ranges, how many mappings
// there may be, and for each island what it serves and where it is; returns the pages to map,
// ascending.
using ChooseStubs = std::function<std::vector<StubPages>(
    std::vector<AddressRange> free, uint64_t most,
    const std::vector<std::pair<AddressRange, AddressRange>>& islands)>;

class SessionMemory {
 public:
  // Creates the memfd in the target, maps `arena_bytes` at `arena_base` (rw-) in both, and one
  // island of `island_bytes` for every cluster of `modules`, and a journal of at least
  // `journal_bytes` (r-- in the target) somewhere. All of it is zero.
  static Result<SessionMemory> create(Stopped& stopped, uint64_t arena_base, uint64_t arena_bytes,
                                      const std::vector<AddressRange>& modules,
                                      uint64_t island_bytes, uint64_t journal_bytes,
                                      const ChooseStubs& choose_stubs = nullptr);
  // More memory for a session that has its arena at `arena_base`: islands, stubs and a journal for
  // modules that came later, in a memfd of their own.
  static Result<SessionMemory> create_more(Stopped& stopped, uint64_t arena_base,
                                           const std::vector<AddressRange>& modules,
                                           uint64_t island_bytes, uint64_t journal_bytes,
                                           const ChooseStubs& choose_stubs);
  SessionMemory(SessionMemory&& other) noexcept;
  SessionMemory& operator=(SessionMemory&&) = delete;
  ~SessionMemory();

  std::span<uint8_t> arena() const;
  std::span<uint8_t> journal() const { return journal_; }  // djtap's view
  // Of the ThreadTable, the same in both.
  uint64_t threads() const { return arena_base_ + arena_bytes_; }
  uint64_t arena_base() const { return arena_base_; }
  std::deque<Island>& islands() { return islands_; }
  std::span<const StubPages> stubs() const { return stubs_; }  // ascending
  // The island that serves code at `address`; null: none is near.
  Island* island_near(uint64_t address);
  // djtap's view of [address, address + bytes) of the stubs' pages.
  std::span<uint8_t> stub_view(uint64_t address, uint64_t bytes);
  int fd() const { return fd_; }
  uint64_t inode() const;  // finds the memory in /proc/*/maps

 private:
  SessionMemory() = default;
  Status create_in(RemoteCall& call, const std::vector<AddressRange>& modules,
                   const ChooseStubs& choose_stubs);
  Status create_file(RemoteCall& call, uint64_t bytes, uint64_t& remote_fd);
  uint64_t stub_bytes() const;  // of the file
  Result<uint64_t> map_there(RemoteCall& call, const char* what, const AddressRange& range,
                             int protection, int flags, uint64_t fd, uint64_t offset);
  Status unmap_all(RemoteCall& call);
  Status map_arena(RemoteCall& call, uint64_t remote_fd);
  Status map_threads(RemoteCall& call);
  Status map_all(RemoteCall& call, uint64_t remote_fd, const std::vector<uint64_t>& island_bases);
  Status map_journal(RemoteCall& call, uint64_t remote_fd, uint64_t offset);
  Status map_code(RemoteCall& call, uint64_t remote_fd, const AddressRange& range, uint64_t offset,
                  std::span<uint8_t>* view);
  int fd_ = -1;
  uint64_t arena_base_ = 0, arena_bytes_ = 0, island_bytes_ = 0, journal_bytes_ = 0;
  std::span<uint8_t> journal_;
  bool arena_mapped_ = false, threads_mapped_ = false;
  std::deque<Island> islands_;
  std::vector<AddressRange> there_;             // mapped in the target
  std::vector<AddressRange> served_;            // by island: span of its modules
  std::vector<StubPages> stubs_;                // ascending
  std::vector<std::span<uint8_t>> stub_views_;  // of each
};

// How many mappings more djtap makes in a process that has `count`: half of what the kernel lets it
// have (vm.max_map_count) are the program's.
uint64_t mappings_left(uint64_t count);

// Maps djtap's own ThreadTable, for a session without a target too. False: the place is taken.
bool map_thread_table(uint64_t address);

}  // namespace dj
