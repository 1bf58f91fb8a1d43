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

// Making: the mappings of a memory that the target makes.
struct SessionMemory::Making {
  explicit Making(RemoteCall borrowed) : call(std::move(borrowed)) {}
  RemoteCall call;
  std::optional<TargetMaps> maps;
  bool runs = false;  // the target makes them now
};

Result<SessionMemory> SessionMemory::create(Stopped& stopped, const ArenaPlace& arena,
                                            const MemoryRequest& request) {
  KnownMaps maps;
  return create(stopped, arena, request, maps);
}

Result<SessionMemory> SessionMemory::join(Stopped& stopped, const ArenaPlace& arena,
                                          const MemoryRequest& request, const SharedFile& data) {
  KnownMaps maps;
  DJ_TRY(SessionMemory memory, begin(stopped, arena, request, maps, &data));
  if (!memory.making_->runs) DJ_TRY_DO(memory.settle());
  return memory;
}

Result<SessionMemory> SessionMemory::create(Stopped& stopped, const ArenaPlace& arena,
                                            const MemoryRequest& request, KnownMaps& maps) {
  DJ_TRY(SessionMemory memory, begin(stopped, arena, request, maps, nullptr));
  DJ_TRY(const std::vector<AddressRange> ranges, memory.end_making());
  for (const AddressRange& range : ranges) maps.add(range);
  return memory;
}

Result<SessionMemory> SessionMemory::begin(Stopped& stopped, const ArenaPlace& arena,
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
  DJ_TRY_DO(memory.begin_making(std::move(call), request, maps));
  return memory;
}

Result<SessionMemory> SessionMemory::create_more(Stopped& stopped, uint64_t arena_base,
                                                 const MemoryRequest& request, KnownMaps& maps) {
  const ArenaPlace arena = {.base = arena_base};
  if (!maps.are_old()) {
    for (const AddressRange& module : request.modules) maps.add(module);
    Result<SessionMemory> made = create(stopped, arena, request, maps);
    if (made.ok()) return made;
    maps.forget();
  }
  return create(stopped, arena, request, maps);
}

Status SessionMemory::begin_making(RemoteCall borrowed, const MemoryRequest& request,
                                   KnownMaps& maps) {
  making_ = std::make_unique<Making>(std::move(borrowed));
  Stopped& stopped = making_->call.stopped();
  if (maps.are_old()) DJ_TRY_DO(maps.read(stopped));  // the call's scratch is there now
  DJ_TRY(const std::vector<AreaPlace> areas,
         choose_places(maps, heap_begin(stopped.pid()), request));
  stubs_.at = areas.size() * area_bytes_;
  DJ_TRY_DO(make_files(stubs_.at + stub_bytes(), page_up(request.journal_bytes)));
  std::vector<const SharedFile*> files = {&files_->constants, &shared_data(), &files_->code,
                                          &files_->journal};
  if (shared_code_.file != nullptr) files.push_back(shared_code_.file);
  DJ_TRY(TargetMaps there, TargetMaps::begin(making_->call, files));
  making_->maps.emplace(std::move(there));
  DJ_TRY(making_->runs, making_->maps->run(map_all(*making_->maps, areas)));
  return ok_status();
}

Result<std::vector<AddressRange>> SessionMemory::end_making() {
  const std::unique_ptr<Making> making = std::move(making_);
  if (!making) return std::vector<AddressRange>();
  DJ_TRY_DO(making->maps->end());
  DJ_TRY_DO(finish(making->call));
  DJ_TRY_DO(making->call.give_back());
  return making->maps->ranges();
}

Status SessionMemory::settle() {
  const Result<std::vector<AddressRange>> made = end_making();
  return made.ok() ? ok_status() : Status(made.error());
}

// The code areas' places; stubs_ are chosen with them.
Result<std::vector<AreaPlace>> SessionMemory::choose_places(const KnownMaps& maps, uint64_t heap,
                                                            const MemoryRequest& request) {
  std::vector<AddressRange> taken;
  if (place_.bytes > 0) {
    taken.push_back({place_.base, place_.end()});
  }
  std::vector<AreaPlace> places;
  std::vector<std::pair<AddressRange, AddressRange>> areas;
  for (const AreaPlace& place :
       choose_areas(maps.all(), taken, heap, request.modules, area_bytes_)) {
    if (place.base == 0 && !maps.are_complete()) return Error{"no free address is known"};
    if (place.base == 0) continue;  // its sites are skipped: out of reach
    places.push_back(place);
    areas.push_back({place.served, {place.base, place.base + area_bytes_}});
  }
  if (request.choose_stubs) {
    constexpr size_t kOthers = 5;  // the arena's two, private memory's two, journal
    const size_t by_area = shared_code_.bytes > 0 ? 2 : 1;
    stubs_.pages = request.choose_stubs(
        free_ranges(maps.all(), taken, heap),
        mappings_left(maps.all().size() + by_area * places.size() + kOthers), areas);
  }
  return places;
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
  DJ_TRY_DO(make(files_->constants, "constants", constant_bytes, kRead,
                 joined_ == nullptr ? place_.base : 0));
  if (joined_ == nullptr)
    DJ_TRY_DO(
        make(files_->data, "data", place_.bytes - constant_bytes, kWritten, place_.data_begin()));
  DJ_TRY_DO(make(files_->code, "code", code_bytes, kRead));
  return make(files_->journal, "journal", journal_bytes, kRead);
}

Status SessionMemory::map_all(TargetMaps& maps, const std::vector<AreaPlace>& areas) {
  if (place_.bytes > 0) {
    if (joined_ == nullptr) mark_unmade(files_->data.view(), place_.private_bytes());
    DJ_TRY_DO(map_arena(maps));
    DJ_TRY_DO(map_private_memory(maps));  // behind the arena, whose mark tells of it
  }
  DJ_TRY_DO(map_areas(maps, areas));
  // Where the kernel likes, so after all others.
  DJ_TRY_DO(maps.map("mmap of the journal", {0, journal().size()}, PROT_READ, files_->journal, 0));
  Journal hold(journal());  // from here on, no other djtap begins a session here
  const uint64_t shared_code = shared_code_.file != nullptr ? shared_code_.file->inode() : 0;
  hold.enter_files(
      {files_->constants.inode(), shared_data().inode(), files_->code.inode(), shared_code});
  if (place_.bytes > 0) hold.enter_threads(threads());
  return ok_status();
}

// A chain opens each file once, so those of one file come together.
Status SessionMemory::map_areas(TargetMaps& maps, const std::vector<AreaPlace>& areas) {
  const uint64_t shared = shared_code_.bytes;
  const auto map_code = [&](const AddressRange& range, const SharedFile& file, uint64_t offset) {
    return maps.map("mmap of a code area", range, PROT_READ | PROT_EXEC, file, offset);
  };
  for (const auto& [served, base] : areas) {
    if (shared > 0) DJ_TRY_DO(map_code({base, base + shared}, *shared_code_.file, 0));
  }
  for (size_t i = 0; i < areas.size(); i++) {
    const uint64_t base = areas[i].base, offset = i * area_bytes_;
    const std::span<uint8_t> view = files_->code.view().subspan(offset, area_bytes_);
    if (shared > 0 && !shared_code_.file->show_at(view.first(shared)))
      return os_error("cannot map the handlers' code");
    DJ_TRY_DO(map_code({base + shared, base + area_bytes_}, files_->code, offset + shared));
    code_areas_.add_area(areas[i].served, base, view, shared);
  }
  std::optional<Awake> awake;
  if (stubs_.pages.size() > kManyMappings) awake.emplace();
  for (const StubPages& pages : stubs_.pages)
    DJ_TRY_DO(map_code(pages.range, files_->code, stubs_.at + pages.at));
  if (!stubs_.pages.empty())
    code_areas_.set_stubs(stubs_.pages, files_->code.view().subspan(stubs_.at));
  return ok_status();
}

// Behind all mappings.
Status SessionMemory::finish(RemoteCall& call) {
  if (joined_ == nullptr) unmark_unmade(files_->data.view());
  if (place_.bytes == 0) return ok_status();
  const uint64_t session = inode();
  return call.stopped().write(threads() + offsetof(abi::ThreadTable, session),
                              {reinterpret_cast<const uint8_t*>(&session), sizeof session});
}

Status SessionMemory::map_arena(TargetMaps& maps) {
  const uint64_t data = place_.data_begin(), end = place_.private_begin();
  if (data > place_.base)
    DJ_TRY_DO(
        maps.map("mmap of the constants", {place_.base, data}, PROT_READ, files_->constants, 0));
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

SessionMemory::SessionMemory() = default;

SessionMemory::SessionMemory(SessionMemory&& other) noexcept
    : place_(other.place_),
      area_bytes_(other.area_bytes_),
      files_(std::move(other.files_)),
      joined_(other.joined_),
      shared_code_(other.shared_code_),
      private_mapped_(std::exchange(other.private_mapped_, false)),
      code_areas_(std::move(other.code_areas_)),
      stubs_(std::move(other.stubs_)),
      making_(std::move(other.making_)) {}

SessionMemory::~SessionMemory() {
  if (private_mapped_) {
    munmap(reinterpret_cast<void*>(place_.private_begin()), place_.private_bytes());
  }
}

std::span<uint8_t> SessionMemory::arena() const {
  return {reinterpret_cast<uint8_t*>(place_.base), place_.bytes};
}

}  // namespace dj
