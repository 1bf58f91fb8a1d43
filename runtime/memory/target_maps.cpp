// SPDX-License-Identifier: Apache-2.0
// mmap() in the target, and a look at the mappings that are there.
#include "runtime/memory/target_maps.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <optional>

#include "runtime/process/map_query.h"
#include "runtime/process/remote_map.h"
#include "runtime/process/send_files.h"

namespace dj {
namespace {

bool allows(const Mapping& m, int protection) {
  return m.shared && m.read == ((protection & PROT_READ) != 0) &&
         m.write == ((protection & PROT_WRITE) != 0) && m.exec == ((protection & PROT_EXEC) != 0);
}

}  // namespace

Result<TargetMaps> TargetMaps::begin(RemoteCall& call, std::span<const SharedFile* const> files) {
  TargetMaps maps(call);
  std::vector<int> fds;
  for (const SharedFile* file : files) {
    if (file->view().empty()) continue;
    maps.files_.push_back({file, 0});
    fds.push_back(file->fd());
  }
  DJ_TRY(const std::vector<uint64_t> numbers, send_files(call, fds));
  for (size_t i = 0; i < numbers.size(); i++) maps.files_[i].number = numbers[i];
  return maps;
}

Result<uint64_t> TargetMaps::map(const char* what, const AddressRange& range, int protection,
                                 const SharedFile& file, uint64_t offset) {
  const auto there = std::ranges::find(files_, &file, &File::file);
  CHECK(there != files_.end());
  const uint64_t bytes = range.end - range.begin;
  const int placed = range.begin != 0 ? MAP_FIXED_NOREPLACE : 0;
  DJ_TRY(const uint64_t at,
         map_in(call_, what,
                {range.begin, bytes, static_cast<uint64_t>(protection),
                 static_cast<uint64_t>(MAP_SHARED | placed), there->number, offset}));
  pieces_.push_back({{at, at + bytes}, protection, &file, offset});
  return at;
}

Status TargetMaps::map_private(const char* what, const AddressRange& range) {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  DJ_TRY_DO(map_in(call_, what,
                   {range.begin, range.end - range.begin, kProtection,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE}));
  pieces_.push_back({range, kProtection, nullptr, 0});
  return ok_status();
}

Status TargetMaps::check() const {
  const pid_t pid = call_.stopped().pid();
  MapFinder maps(pid);
  for (const Piece& piece : pieces_) {
    if (piece.file == nullptr) continue;
    DJ_TRY(const std::optional<Mapping> m, maps.at(piece.range.begin));
    const bool is_there = m && m->end >= piece.range.end && piece.file->is_in(*m) &&
                          allows(*m, piece.protection) &&
                          m->offset + (piece.range.begin - m->begin) == piece.offset;
    if (!is_there)
      return Error{fmt::format("cannot share memory with process {}: other memory lies where "
                               "djtap's was mapped, at {:#x}",
                               pid, piece.range.begin),
                   Fail::Permission};
  }
  return ok_status();
}

Status TargetMaps::end(const Status& mapped) {
  std::vector<uint64_t> numbers;
  for (const File& file : files_) numbers.push_back(file.number);
  DJ_TRY_DO(close_in(call_, std::move(numbers)));
  Status done = mapped.ok() ? check() : mapped;
  if (done.ok()) return done;
  for (const Piece& piece : pieces_)
    DJ_TRY_DO(call_.syscall(SYS_munmap, {piece.range.begin, piece.range.end - piece.range.begin}));
  return done;
}

std::vector<AddressRange> TargetMaps::ranges() const {
  std::vector<AddressRange> all;
  for (const Piece& piece : pieces_) all.push_back(piece.range);
  return all;
}

}  // namespace dj
