// SPDX-License-Identifier: Apache-2.0
// mmap() in the target, and a look at the mappings that are there.
#include "runtime/memory/target_maps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>

#include "runtime/process/process.h"
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
  for (const SharedFile* file : files) {
    if (!file->view().empty()) maps.files_.push_back({file, 0});
  }
  // In a chain one file is open at a time: so each has the same number, and a program that may have
  // few files open has room.
  const std::optional<uint64_t> next =
      call.can_chain() ? next_descriptor(call.stopped().pid()) : std::nullopt;
  maps.is_chained_ = next && !maps.files_.empty();
  for (File& file : maps.files_) file.number = next.value_or(0);
  if (!maps.is_chained_) DJ_TRY_DO(maps.send());
  return maps;
}

Status TargetMaps::send() {
  std::vector<int> fds;
  for (const File& file : files_) fds.push_back(file.file->fd());
  DJ_TRY(SentFiles sent, send_files(call_, fds));
  for (size_t i = 0; i < sent.files.size(); i++) files_[i].number = sent.files[i];
  sockets_ = std::move(sent.sockets);
  return ok_status();
}

Status TargetMaps::map(const char* what, const AddressRange& range, int protection,
                       const SharedFile& file, uint64_t offset) {
  return add({what, range, protection, &file, offset, {}});
}

Status TargetMaps::map_private(const char* what, const AddressRange& range,
                               const AddressRange& wiped) {
  return add({what, range, PROT_READ | PROT_WRITE, nullptr, 0, wiped});
}

// pieces_ holds what end() may unmap.
Status TargetMaps::add(Piece piece) {
  if (!is_chained_) {
    const RemoteMapping mapping = mapping_of(piece);
    DJ_TRY(const uint64_t at, map_in(call_, piece.what, mapping));
    piece.range = {at, at + mapping.bytes};
  }
  pieces_.push_back(piece);
  return is_chained_ ? ok_status() : wipe(piece);
}

RemoteMapping TargetMaps::mapping_of(const Piece& piece) const {
  const auto protection = static_cast<uint64_t>(piece.protection);
  const uint64_t bytes = piece.range.end - piece.range.begin;
  const int placed = piece.range.begin != 0 ? MAP_FIXED_NOREPLACE : 0;
  if (piece.file == nullptr)
    return {piece.range.begin, bytes, protection,
            static_cast<uint64_t>(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | placed)};
  const auto there = std::ranges::find(files_, piece.file, &File::file);
  CHECK(there != files_.end());
  return {piece.range.begin, bytes,       protection, static_cast<uint64_t>(MAP_SHARED | placed),
          there->number,     piece.offset};
}

Status TargetMaps::wipe(const Piece& piece) {
  const auto& [begin, end] = piece.wiped;
  if (begin == end) return ok_status();
  const Result<uint64_t> wiped = call_.checked("madvise of private memory", SYS_madvise,
                                               {begin, end - begin, MADV_WIPEONFORK});
  return wiped.ok() ? ok_status() : Status(wiped.error());
}

Status TargetMaps::make_all() {
  is_chained_ = false;
  const std::vector<Piece> wanted = std::exchange(pieces_, {});
  DJ_TRY_DO(send());
  for (const Piece& piece : wanted) DJ_TRY_DO(add(piece));
  return ok_status();
}

// Whether none of the pieces' ranges has a mapping. Only then do the mappings that are found there
// behind a chain belong to djtap.
Result<bool> TargetMaps::is_room() const {
  DJ_TRY(const std::vector<Mapping> maps, call_.stopped().maps());
  return std::ranges::none_of(pieces_, [&](const Piece& piece) {
    const AddressRange& range = piece.range;
    return range.begin != 0 && std::ranges::any_of(maps, [&](const Mapping& m) {
             return m.begin < range.end && range.begin < m.end;
           });
  });
}

Result<bool> TargetMaps::begin_chain() {
  constexpr auto kNoFolder = static_cast<uint64_t>(AT_FDCWD);
  std::vector<ChainedCall> calls;
  std::string names;
  DJ_TRY(const bool room, is_room());
  if (!room) return false;
  DJ_TRY(const uint64_t page, call_.scratch());
  const SharedFile* open = nullptr;
  const auto close_last = [&] {
    if (open != nullptr) calls.push_back({SYS_close, {files_.front().number}});
  };
  for (const Piece& piece : pieces_) {
    if (piece.file != nullptr && piece.file != open) {
      close_last();
      open = piece.file;
      calls.push_back({SYS_openat, {kNoFolder, page + names.size(), O_RDWR | O_CLOEXEC}});
      names.append(name_of_file(open->fd())).push_back('\0');
    }
    const RemoteMapping m = mapping_of(piece);
    calls.push_back({SYS_mmap, {m.address, m.bytes, m.protection, m.flags, m.fd, m.offset}});
    const auto& [begin, end] = piece.wiped;
    if (begin != end) calls.push_back({SYS_madvise, {begin, end - begin, MADV_WIPEONFORK}});
  }
  close_last();
  if (names.size() > RestoreFrame::kScratchBytes) return false;
  DJ_TRY_DO(
      call_.stopped().write(page, {reinterpret_cast<const uint8_t*>(names.data()), names.size()}));
  DJ_TRY_DO(call_.begin_chain(calls));
  return true;
}

// False: something is not there, and now nothing is. The kernel does not tell what it has answered:
// the target may be allowed fewer mappings, or may not look at djtap.
Result<bool> TargetMaps::end_chain() {
  DJ_TRY_DO(call_.end_chain());
  std::vector<Piece> made = pieces_;
  const Status checked = check(made);
  if (!checked.ok()) DJ_TRY_DO(unmap(made));
  if (checked.ok()) pieces_ = std::move(made);
  return checked.ok();
}

namespace {

bool is_private(const Mapping& m) { return !m.shared && m.inode == 0 && m.read && m.write; }

// Memory that is wiped in forked children is a mapping of its own.
bool is_wiped(const Mapping& m, const AddressRange& wiped) {
  return is_private(m) && m.begin == wiped.begin && m.end == wiped.end;
}

// range.begin 0: wherever it is.
bool is_of_file(const Mapping& m, const SharedFile& file, const AddressRange& range,
                uint64_t offset) {
  if (!file.is_in(m)) return false;
  if (range.begin == 0) return m.offset == offset;
  return m.begin <= range.begin && m.end >= range.end &&
         m.offset + (range.begin - m.begin) == offset;
}

Error not_there(pid_t pid, const AddressRange& range) {
  return Error{fmt::format("cannot share memory with process {}: other memory lies where djtap's "
                           "was mapped, at {:#x}",
                           pid, range.begin),
               Fail::Permission};
}

}  // namespace

// Fills in where the kernel has put the pieces that may lie anywhere.
Status TargetMaps::check(std::vector<Piece>& pieces) const {
  DJ_TRY(const std::vector<Mapping> maps, call_.stopped().maps());
  Status done = ok_status();
  for (Piece& piece : pieces) {
    AddressRange& range = piece.range;
    const auto found = std::ranges::find_if(maps, [&](const Mapping& m) {
      const bool is_at = m.begin <= range.begin && range.begin < m.end;
      return piece.file == nullptr
                 ? is_at && is_private(m)
                 : is_of_file(m, *piece.file, range, piece.offset) && allows(m, piece.protection);
    });
    const AddressRange& wiped = piece.wiped;
    const bool is_right =
        found != maps.end() &&
        (wiped.begin == wiped.end ||
         std::ranges::any_of(maps, [&](const Mapping& m) { return is_wiped(m, wiped); }));
    if (!is_right && done.ok()) done = not_there(call_.stopped().pid(), range);
    if (found != maps.end() && range.begin == 0) range = {found->begin, found->begin + range.end};
  }
  return done;
}

// Whatever lies in the pieces' ranges: they were free before, and a file that another process has
// put in the place of djtap's goes, too.
Status TargetMaps::unmap(const std::vector<Piece>& pieces) {
  for (const auto& [begin, end] : pieces | std::views::transform(&Piece::range)) {
    if (begin != 0) DJ_TRY_DO(call_.syscall(SYS_munmap, {begin, end - begin}));
  }
  return ok_status();
}

Result<bool> TargetMaps::run(const Status& mapped) {
  mapped_ = mapped;
  if (!is_chained_) return false;
  if (!mapped.ok()) return mapped.error();
  DJ_TRY(is_chained_, begin_chain());
  if (!is_chained_) mapped_ = make_all();
  return is_chained_;
}

Status TargetMaps::end() {
  Status done = mapped_;
  if (is_chained_) {
    DJ_TRY(const bool made, end_chain());
    if (made) return ok_status();
    done = make_all();
  }
  std::vector<uint64_t> numbers = std::exchange(sockets_, {});
  for (const File& file : files_) numbers.push_back(file.number);
  DJ_TRY_DO(close_in(call_, std::move(numbers)));
  const Status checked = check(pieces_);
  if (done.ok()) done = checked;
  if (!done.ok()) DJ_TRY_DO(unmap(pieces_));
  return done;
}

std::vector<AddressRange> TargetMaps::ranges() const {
  std::vector<AddressRange> all;
  for (const Piece& piece : pieces_) all.push_back(piece.range);
  return all;
}

}  // namespace dj
