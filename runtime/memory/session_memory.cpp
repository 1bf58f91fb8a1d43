// One memfd, made in the target and opened by djtap through /proc, mapped piece by piece into both.
#include "runtime/memory/session_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "runtime/process/awake.h"
#include "runtime/process/kin.h"
#include "runtime/process/os_error.h"
#include "runtime/process/remote_map.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/thread_table.h"
#include "runtime/text/journal.h"

namespace dj {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kManyMappings = 16;  // from here on Awake is worth its thread
uint64_t page_up(uint64_t value) { return (value + kPage - 1) & ~(kPage - 1); }

}  // namespace

Result<SessionMemory> SessionMemory::create(Stopped& stopped, uint64_t arena_base,
                                            uint64_t arena_bytes,
                                            const std::vector<AddressRange>& modules,
                                            uint64_t island_bytes, uint64_t journal_bytes,
                                            const ChooseStubs& choose_stubs) {
  SessionMemory memory;
  memory.arena_base_ = arena_base;
  memory.arena_bytes_ = page_up(arena_bytes);
  memory.island_bytes_ = page_up(island_bytes);
  memory.journal_bytes_ = page_up(journal_bytes);
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped));
  DJ_TRY_DO(
      call.scratch());  // lies where the kernel likes: first, so that it is in no chosen place
  DJ_TRY_DO(memory.create_in(call, modules, choose_stubs));
  return memory;
}

Result<SessionMemory> SessionMemory::create_more(Stopped& stopped, uint64_t arena_base,
                                                 const std::vector<AddressRange>& modules,
                                                 uint64_t island_bytes, uint64_t journal_bytes,
                                                 const ChooseStubs& choose_stubs) {
  return create(stopped, arena_base, 0, modules, island_bytes, journal_bytes, choose_stubs);
}

// Chooses all places and maps what lies there.
Status SessionMemory::create_in(RemoteCall& call, const std::vector<AddressRange>& modules,
                                const ChooseStubs& choose_stubs) {
  DJ_TRY(std::vector<Mapping> maps, read_maps(call.stopped().pid()));
  DJ_TRY(ProcessStatus status, read_status(call.stopped().pid()));
  std::vector<AddressRange> taken;
  if (arena_bytes_ > 0) {
    taken.push_back({arena_base_, threads() + sizeof(abi::ThreadTable)});
  }
  std::vector<uint64_t> bases;
  for (const Cluster& cluster : make_clusters(modules, island_bytes_)) {
    uint64_t base = choose_island_base(maps, taken, status.heap_begin, cluster, island_bytes_);
    if (base != 0) {  // else its sites are skipped: out of reach
      taken.push_back({base, base + island_bytes_});
      bases.push_back(base);
      served_.push_back(cluster.span);
    }
  }
  std::vector<std::pair<AddressRange, AddressRange>> islands;
  for (size_t i = 0; i < bases.size(); i++) {
    islands.push_back({served_[i], {bases[i], bases[i] + island_bytes_}});
  }
  if (choose_stubs) {
    constexpr size_t kOthers = 3;  // arena, thread table, journal
    stubs_ = choose_stubs(free_ranges(maps, taken, status.heap_begin),
                          mappings_left(maps.size() + bases.size() + kOthers), islands);
  }
  const uint64_t file_bytes =
      arena_bytes_ + bases.size() * island_bytes_ + stub_bytes() + journal_bytes_;
  uint64_t remote_fd = 0;
  DJ_TRY_DO(create_file(call, file_bytes, remote_fd));
  Status mapped = map_all(call, remote_fd, bases);
  if (!mapped.ok()) DJ_TRY_DO(unmap_all(call));
  DJ_TRY(int64_t closed, call.syscall(SYS_close, {remote_fd}));
  static_cast<void>(closed);
  return mapped.ok() ? call.give_back() : mapped;
}

// Maps a piece in the target, at its address (0: where the kernel likes).
Result<uint64_t> SessionMemory::map_there(RemoteCall& call, const char* what,
                                          const AddressRange& range, int protection, int flags,
                                          uint64_t fd, uint64_t offset) {
  const uint64_t bytes = range.end - range.begin;
  const int placed = range.begin != 0 ? MAP_FIXED_NOREPLACE : 0;
  DJ_TRY(uint64_t at, map_in(call, what,
                             {range.begin, bytes, static_cast<uint64_t>(protection),
                              static_cast<uint64_t>(flags | placed), fd, offset}));
  CHECK(range.begin == 0 || at == range.begin);
  there_.push_back({at, at + bytes});
  return at;
}

// Memory without a journal belongs to nobody.
Status SessionMemory::unmap_all(RemoteCall& call) {
  for (const AddressRange& range : std::exchange(there_, {})) {
    DJ_TRY_DO(call.syscall(SYS_munmap, {range.begin, range.end - range.begin}));
  }
  return ok_status();
}

uint64_t SessionMemory::stub_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [range, at] : stubs_) {
    bytes = std::max(bytes, at + range.end - range.begin);
  }
  return bytes;
}

Status SessionMemory::create_file(RemoteCall& call, uint64_t bytes, uint64_t& remote_fd) {
  DJ_TRY(uint64_t name, call.scratch());
  DJ_TRY_DO(call.stopped().write(
      name, std::span(reinterpret_cast<const uint8_t*>(kMemoryName), sizeof kMemoryName)));
  DJ_TRY(remote_fd, make_file_in(call, name, MFD_CLOEXEC));
  std::string path = "/proc/" + std::to_string(living_thread(call.stopped().pid())) + "/fd/" +
                     std::to_string(remote_fd);
  fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
    const int number = errno;
    Error error = os_error(
        "cannot share memory with process " + std::to_string(call.stopped().pid()), number);
    if (number == EFBIG)
      error.message += " (djtap itself may not make a file of " + std::to_string(bytes / 1024) +
                       " kB: RLIMIT_FSIZE, ulimit -f)";
    DJ_TRY_DO(call.syscall(SYS_close, {remote_fd}));
    return error;
  }
  return ok_status();
}

Status SessionMemory::map_arena(RemoteCall& call, uint64_t remote_fd) {
  void* arena = mmap(reinterpret_cast<void*>(arena_base_), arena_bytes_, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED_NOREPLACE, fd_, 0);
  if (arena != reinterpret_cast<void*>(arena_base_)) {
    return os_error("cannot map the data arena");
  }
  arena_mapped_ = true;
  DJ_TRY_DO(map_there(call, "mmap of the data arena", {arena_base_, arena_base_ + arena_bytes_},
                      PROT_READ | PROT_WRITE, MAP_SHARED, remote_fd, 0));
  return ok_status();
}

Status SessionMemory::map_all(RemoteCall& call, uint64_t remote_fd,
                              const std::vector<uint64_t>& island_bases) {
  if (arena_bytes_ > 0) {
    DJ_TRY_DO(map_threads(call));  // where there is an arena, that is behind it
    DJ_TRY_DO(map_arena(call, remote_fd));
  }
  uint64_t offset = arena_bytes_;
  for (uint64_t base : island_bases) {
    std::span<uint8_t> view;
    DJ_TRY_DO(map_code(call, remote_fd, {base, base + island_bytes_}, offset, &view));
    islands_.emplace_back(base, view);
    offset += island_bytes_;
  }
  std::optional<Awake> awake;
  if (stubs_.size() > kManyMappings) awake.emplace();
  for (const StubPages& pages : stubs_) {
    DJ_TRY_DO(
        map_code(call, remote_fd, pages.range, offset + pages.at, &stub_views_.emplace_back()));
  }
  offset += stub_bytes();
  return map_journal(call, remote_fd, offset);  // where the kernel likes, so after all others
}

Status SessionMemory::map_journal(RemoteCall& call, uint64_t remote_fd, uint64_t offset) {
  DJ_TRY_DO(map_there(call, "mmap of the journal", {0, journal_bytes_}, PROT_READ, MAP_SHARED,
                      remote_fd, offset));
  void* mine = mmap(nullptr, journal_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                    static_cast<off_t>(offset));
  if (mine == MAP_FAILED) {
    return os_error("cannot map the journal");
  }
  journal_ = std::span(static_cast<uint8_t*>(mine), journal_bytes_);
  Journal hold(journal_);  // from here on, no other djtap begins a session here
  if (arena_bytes_ > 0) hold.enter_threads(threads());
  return ok_status();
}

Status SessionMemory::map_code(RemoteCall& call, uint64_t remote_fd, const AddressRange& range,
                               uint64_t offset, std::span<uint8_t>* view) {
  const uint64_t bytes = range.end - range.begin;
  DJ_TRY_DO(map_there(call, "mmap of a code island", range, PROT_READ | PROT_EXEC, MAP_SHARED,
                      remote_fd, offset));
  void* mine =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(offset));
  if (mine == MAP_FAILED) {
    return os_error("cannot map a code island");
  }
  *view = std::span(static_cast<uint8_t*>(mine), bytes);
  return ok_status();
}

Status SessionMemory::map_threads(RemoteCall& call) {
  constexpr uint64_t kNoFile = ~0ull;
  if (!map_thread_table(threads())) {
    return os_error("cannot map the thread table");
  }
  threads_mapped_ = true;
  DJ_TRY_DO(map_there(call, "mmap of the thread table",
                      {threads(), threads() + sizeof(abi::ThreadTable)}, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, kNoFile, 0));
  DJ_TRY_DO(call.checked("madvise of the thread table", SYS_madvise,
                         {threads(), abi::kWipedBytes, MADV_WIPEONFORK}));
  const uint64_t session = inode();
  return call.stopped().write(threads() + offsetof(abi::ThreadTable, session),
                              {reinterpret_cast<const uint8_t*>(&session), sizeof session});
}

uint64_t mappings_left(uint64_t count) {
  constexpr uint64_t kDefault = 65530;
  std::ifstream file("/proc/sys/vm/max_map_count");
  uint64_t most = kDefault;
  if (!(file >> most)) most = kDefault;
  return most / 2 > count ? most / 2 - count : 0;
}

bool map_thread_table(uint64_t address) {
  void* wanted = reinterpret_cast<void*>(address);
  return mmap(wanted, sizeof(abi::ThreadTable), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == wanted;
}

SessionMemory::SessionMemory(SessionMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      arena_base_(other.arena_base_),
      arena_bytes_(other.arena_bytes_),
      island_bytes_(other.island_bytes_),
      journal_bytes_(other.journal_bytes_),
      journal_(std::exchange(other.journal_, {})),
      arena_mapped_(std::exchange(other.arena_mapped_, false)),
      threads_mapped_(std::exchange(other.threads_mapped_, false)),
      islands_(std::exchange(other.islands_, {})),
      served_(std::move(other.served_)),
      stubs_(std::move(other.stubs_)),
      stub_views_(std::exchange(other.stub_views_, {})) {}

SessionMemory::~SessionMemory() {
  for (Island& island : islands_) {
    munmap(island.view(island.base(), island_bytes_).data(), island_bytes_);
  }
  for (std::span<uint8_t> view : stub_views_) {
    if (!view.empty()) munmap(view.data(), view.size());
  }
  if (!journal_.empty()) munmap(journal_.data(), journal_.size());
  if (arena_mapped_) {
    munmap(reinterpret_cast<void*>(arena_base_), arena_bytes_);
  }
  if (threads_mapped_) {
    munmap(reinterpret_cast<void*>(threads()), sizeof(abi::ThreadTable));
  }
  if (fd_ >= 0) {
    close(fd_);
  }
}

std::span<uint8_t> SessionMemory::arena() const {
  return {reinterpret_cast<uint8_t*>(arena_base_), arena_bytes_};
}

Island* SessionMemory::island_near(uint64_t address) {
  for (size_t i = 0; i < islands_.size(); i++) {
    if (served_[i].contains(address)) {
      return &islands_[i];
    }
  }
  return nullptr;
}

std::span<uint8_t> SessionMemory::stub_view(uint64_t address, uint64_t bytes) {
  auto pages = std::upper_bound(stubs_.begin(), stubs_.end(), address,
                                [](uint64_t at, const StubPages& p) { return at < p.range.end; });
  CHECK(pages != stubs_.end());
  const AddressRange& range = pages->range;
  CHECK(range.contains(address) && address + bytes <= range.end);
  return stub_views_[static_cast<size_t>(pages - stubs_.begin())].subspan(address - range.begin,
                                                                          bytes);
}

uint64_t SessionMemory::inode() const {
  struct stat info = {};
  fstat(fd_, &info);
  return info.st_ino;
}

}  // namespace dj
