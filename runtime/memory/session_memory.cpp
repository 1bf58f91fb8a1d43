// SPDX-License-Identifier: Apache-2.0
// Chooses where all lies, makes the files, and maps them piece by piece into the target.
#include "runtime/memory/session_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "compiler/base/page.h"
#include "runtime/memory/unmade_mark.h"
#include "runtime/process/awake.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/thread_table.h"
#include "runtime/text/journal.h"

namespace dj {
namespace {

constexpr size_t kManyMappings = 16;  // from here on Awake is worth its thread

}  // namespace

Result<SessionMemory> SessionMemory::create(Stopped& stopped, const ArenaPlace& arena,
                                            const MemoryRequest& request) {
  KnownMaps maps;
  return create(stopped, arena, request, maps, nullptr);
}

Result<SessionMemory> SessionMemory::join(Stopped& stopped, const ArenaPlace& arena,
                                          const MemoryRequest& request, const SharedFile& data) {
  KnownMaps maps;
  return create(stopped, arena, request, maps, &data);
}

Result<SessionMemory> SessionMemory::create(Stopped& stopped, const ArenaPlace& arena,
                                            const MemoryRequest& request, KnownMaps& maps,
                                            const SharedFile* joined) {
  CHECK(arena.constant_bytes % kPage == 0 && arena.constant_bytes <= arena.bytes);
  SessionMemory memory;
  memory.place_ = arena;
  memory.joined_ = joined;
  memory.area_bytes_ = page_up(request.area_bytes);
  memory.shared_code_ = request.shared_code;
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped));
  DJ_TRY_DO(
      call.scratch());  // lies where the kernel likes: first, so that it is in no chosen place
  DJ_TRY_DO(memory.create_in(call, request, maps));
  return memory;
}

Result<SessionMemory> SessionMemory::create_more(Stopped& stopped, uint64_t arena_base,
                                                 const MemoryRequest& request, KnownMaps& maps) {
  const ArenaPlace arena = {.base = arena_base};
  if (!maps.are_old()) {
    for (const AddressRange& module : request.modules) maps.add(module);
    Result<SessionMemory> made = create(stopped, arena, request, maps, nullptr);
    if (made.ok()) return made;
    maps.forget();
  }
  return create(stopped, arena, request, maps, nullptr);
}

Status SessionMemory::create_in(RemoteCall& call, const MemoryRequest& request, KnownMaps& maps) {
  if (maps.are_old()) DJ_TRY_DO(maps.read(call.stopped()));  // the call's scratch is there now
  const uint64_t heap = heap_begin(call.stopped().pid());
  DJ_TRY(const std::vector<uint64_t> bases, choose_places(maps, heap, request));
  stubs_.at = bases.size() * area_bytes_;
  DJ_TRY_DO(make_files(stubs_.at + stub_bytes(), page_up(request.journal_bytes)));
  std::vector<const SharedFile*> files = {&constants_, &shared_data(), &code_, &journal_};
  if (shared_code_.file != nullptr) files.push_back(shared_code_.file);
  DJ_TRY(TargetMaps there, TargetMaps::begin(call, files));
  DJ_TRY_DO(there.end(map_all(there, bases)));
  for (const AddressRange& range : there.ranges()) maps.add(range);
  DJ_TRY_DO(finish(call));
  return call.give_back();
}

// Returns the code areas' places; served_ and stubs_ are chosen with them.
Result<std::vector<uint64_t>> SessionMemory::choose_places(const KnownMaps& maps,
                                                           uint64_t heap_begin,
                                                           const MemoryRequest& request) {
  std::vector<AddressRange> taken;
  if (place_.bytes > 0) {
    taken.push_back({place_.base, place_.end()});
  }
  std::vector<uint64_t> bases;
  for (const AreaPlace& place :
       choose_areas(maps.all(), taken, heap_begin, request.modules, area_bytes_)) {
    if (place.base == 0 && !maps.are_complete()) return Error{"no free address is known"};
    if (place.base == 0) continue;  // its sites are skipped: out of reach
    bases.push_back(place.base);
    served_.push_back(place.served);
  }
  std::vector<std::pair<AddressRange, AddressRange>> areas;
  for (size_t i = 0; i < bases.size(); i++) {
    areas.push_back({served_[i], {bases[i], bases[i] + area_bytes_}});
  }
  if (request.choose_stubs) {
    constexpr size_t kOthers = 5;  // the arena's two, private memory's two, journal
    stubs_.pages =
        request.choose_stubs(free_ranges(maps.all(), taken, heap_begin),
                             mappings_left(maps.all().size() + bases.size() + kOthers), areas);
  }
  return bases;
}

uint64_t SessionMemory::stub_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [range, at] : stubs_.pages) {
    bytes = std::max(bytes, at + range.end - range.begin);
  }
  return bytes;
}

Status SessionMemory::make_files(uint64_t code_bytes, uint64_t journal_bytes) {
  const auto make = [](SharedFile& file, const char* what, uint64_t bytes, SharedFile::Use use,
                       uint64_t at = 0) -> Status {
    if (bytes == 0) return ok_status();
    DJ_TRY(file, SharedFile::make(std::string(kMemoryName) + "-" + what, bytes, use, at));
    return ok_status();
  };
  constexpr auto kRead = SharedFile::Use::Read, kWritten = SharedFile::Use::Written;
  const uint64_t constant_bytes = place_.constant_bytes;
  DJ_TRY_DO(
      make(constants_, "constants", constant_bytes, kRead, joined_ == nullptr ? place_.base : 0));
  if (joined_ == nullptr)
    DJ_TRY_DO(make(data_, "data", place_.bytes - constant_bytes, kWritten, place_.data_begin()));
  DJ_TRY_DO(make(code_, "code", code_bytes, kRead));
  return make(journal_, "journal", journal_bytes, kRead);
}

Status SessionMemory::map_all(TargetMaps& maps, const std::vector<uint64_t>& area_bases) {
  if (place_.bytes > 0) {
    if (joined_ == nullptr) mark_unmade(data_.view(), place_.private_bytes());
    DJ_TRY_DO(map_arena(maps));
    DJ_TRY_DO(map_private_memory(maps));  // behind the arena, whose mark tells of it
  }
  DJ_TRY_DO(map_areas(maps, area_bases));
  // Where the kernel likes, so after all others.
  DJ_TRY_DO(maps.map("mmap of the journal", {0, journal().size()}, PROT_READ, journal_, 0));
  Journal hold(journal());  // from here on, no other djtap begins a session here
  const uint64_t shared_code = shared_code_.file != nullptr ? shared_code_.file->inode() : 0;
  hold.enter_files({constants_.inode(), shared_data().inode(), code_.inode(), shared_code});
  if (place_.bytes > 0) hold.enter_threads(threads());
  return ok_status();
}

// A chain opens each file once, so those of one file come together.
Status SessionMemory::map_areas(TargetMaps& maps, const std::vector<uint64_t>& bases) {
  const uint64_t shared = shared_code_.bytes;
  const auto map_code = [&](const AddressRange& range, const SharedFile& file, uint64_t offset) {
    return maps.map("mmap of a code area", range, PROT_READ | PROT_EXEC, file, offset);
  };
  for (const uint64_t base : bases) {
    if (shared > 0) DJ_TRY_DO(map_code({base, base + shared}, *shared_code_.file, 0));
  }
  for (size_t i = 0; i < bases.size(); i++) {
    const uint64_t base = bases[i], offset = i * area_bytes_;
    const std::span<uint8_t> view = code_.view().subspan(offset, area_bytes_);
    if (shared > 0 && !shared_code_.file->show_at(view.first(shared)))
      return os_error("cannot map the handlers' code");
    DJ_TRY_DO(map_code({base + shared, base + area_bytes_}, code_, offset + shared));
    code_areas_.add_area(served_[i], base, view, shared);
  }
  std::optional<Awake> awake;
  if (stubs_.pages.size() > kManyMappings) awake.emplace();
  for (const StubPages& pages : stubs_.pages)
    DJ_TRY_DO(map_code(pages.range, code_, stubs_.at + pages.at));
  if (!stubs_.pages.empty()) code_areas_.set_stubs(stubs_.pages, code_.view().subspan(stubs_.at));
  return ok_status();
}

// Behind all mappings.
Status SessionMemory::finish(RemoteCall& call) {
  if (joined_ == nullptr) unmark_unmade(data_.view());
  if (place_.bytes == 0) return ok_status();
  const uint64_t session = inode();
  return call.stopped().write(threads() + offsetof(abi::ThreadTable, session),
                              {reinterpret_cast<const uint8_t*>(&session), sizeof session});
}

Status SessionMemory::map_arena(TargetMaps& maps) {
  const uint64_t data = place_.data_begin(), end = place_.private_begin();
  if (data > place_.base)
    DJ_TRY_DO(maps.map("mmap of the constants", {place_.base, data}, PROT_READ, constants_, 0));
  if (end > data)
    DJ_TRY_DO(
        maps.map("mmap of the data arena", {data, end}, PROT_READ | PROT_WRITE, shared_data(), 0));
  return ok_status();
}

Status SessionMemory::map_private_memory(TargetMaps& maps) {
  if (joined_ == nullptr && !map_private(place_))
    return os_error("cannot map djtap's private memory behind the arena");
  private_mapped_ = joined_ == nullptr;
  return maps.map_private("mmap of private memory", {place_.private_begin(), place_.end()},
                          {threads(), threads() + abi::kWipedBytes});
}

namespace {

uint64_t most_mappings() {
  constexpr uint64_t kDefault = 65530;
  std::ifstream file("/proc/sys/vm/max_map_count");
  uint64_t most = kDefault;
  return file >> most ? most : kDefault;
}

}  // namespace

uint64_t mappings_left(uint64_t count) {
  static const uint64_t most = most_mappings();
  return most / 2 > count ? most / 2 - count : 0;
}

bool map_private(const ArenaPlace& place) {
  void* wanted = reinterpret_cast<void*>(place.private_begin());
  return mmap(wanted, place.private_bytes(), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0) == wanted;
}

SessionMemory::SessionMemory(SessionMemory&& other) noexcept
    : place_(other.place_),
      area_bytes_(other.area_bytes_),
      constants_(std::move(other.constants_)),
      data_(std::move(other.data_)),
      code_(std::move(other.code_)),
      journal_(std::move(other.journal_)),
      joined_(other.joined_),
      shared_code_(other.shared_code_),
      private_mapped_(std::exchange(other.private_mapped_, false)),
      code_areas_(std::move(other.code_areas_)),
      served_(std::move(other.served_)),
      stubs_(std::move(other.stubs_)) {}

SessionMemory::~SessionMemory() {
  if (private_mapped_) {
    munmap(reinterpret_cast<void*>(place_.private_begin()), place_.private_bytes());
  }
}

std::span<uint8_t> SessionMemory::arena() const {
  return {reinterpret_cast<uint8_t*>(place_.base), place_.bytes};
}

}  // namespace dj
