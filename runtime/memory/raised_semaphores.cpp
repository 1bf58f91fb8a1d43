// SPDX-License-Identifier: Apache-2.0
// Noted before it is counted up, and until it is counted down: who is killed in between leaves one
// that is counted down to 0 at most.
#include "runtime/memory/raised_semaphores.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "runtime/memory/session_end.h"
#include "runtime/process/process.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

using Notes = std::vector<abi::RaisedSemaphore>;

std::span<uint8_t> bytes_of(Notes& notes) {
  return {reinterpret_cast<uint8_t*>(notes.data()), notes.size() * sizeof notes[0]};
}

Result<Notes> read_notes(const Stopped& stopped, uint64_t threads) {
  Notes notes(abi::kMostRaised);
  DJ_TRY_DO(stopped.read(threads + offsetof(abi::ThreadTable, raised), bytes_of(notes)));
  return notes;
}

Status write_note(const Stopped& stopped, uint64_t threads, size_t index,
                  abi::RaisedSemaphore note) {
  const uint64_t at = threads + offsetof(abi::ThreadTable, raised) + index * sizeof note;
  return stopped.write(at, {reinterpret_cast<uint8_t*>(&note), sizeof note});
}

std::optional<uint64_t> inode_at(const std::vector<Mapping>& maps, uint64_t address) {
  const auto m = std::ranges::upper_bound(maps, address, {}, &Mapping::end);
  const bool is_in = m != maps.end() && address >= m->begin && m->end - address >= 2;
  return is_in ? std::optional(m->inode) : std::nullopt;
}

// Not below 0.
Status add(const Stopped& stopped, uint64_t address, int amount) {
  uint8_t bytes[2];
  DJ_TRY_DO(stopped.read(address, bytes));
  const int count = bytes[0] + bytes[1] * 256 + amount;
  if (count < 0) return ok_status();
  bytes[0] = static_cast<uint8_t>(count);
  bytes[1] = static_cast<uint8_t>(count >> 8);
  return stopped.write(address, bytes);
}

template <typename Which>
Status lower(const Stopped& stopped, uint64_t threads, Which which) {
  DJ_TRY(Notes notes, read_notes(stopped, threads));
  DJ_TRY(std::vector<Mapping> maps, read_maps(stopped.pid()));
  for (size_t i = 0; i < notes.size(); i++) {
    const abi::RaisedSemaphore& note = notes[i];
    if (note.address == 0 || !which(note.address)) continue;
    if (inode_at(maps, note.address) == note.inode) DJ_TRY_DO(add(stopped, note.address, -1));
    DJ_TRY_DO(write_note(stopped, threads, i, {}));
  }
  return ok_status();
}

}  // namespace

Result<size_t> raise_semaphores(const Stopped& stopped, uint64_t threads,
                                const std::vector<uint64_t>& addresses) {
  if (addresses.empty()) return size_t{0};
  DJ_TRY(Notes notes, read_notes(stopped, threads));
  DJ_TRY(std::vector<Mapping> maps, read_maps(stopped.pid()));
  std::set<uint64_t> noted;
  for (const abi::RaisedSemaphore& note : notes) noted.insert(note.address);
  size_t free = 0, left_out = 0;
  for (uint64_t address : addresses) {
    while (free < notes.size() && notes[free].address != 0) free++;
    const std::optional<uint64_t> inode = inode_at(maps, address);
    if (!inode || !noted.insert(address).second) continue;
    if (free == notes.size()) {
      left_out++;
      continue;
    }
    notes[free] = {address, *inode};
    DJ_TRY_DO(write_note(stopped, threads, free, notes[free]));
    DJ_TRY_DO(add(stopped, address, 1));
  }
  return left_out;
}

Status lower_semaphores(const Stopped& stopped, uint64_t threads,
                        const std::vector<uint64_t>& addresses) {
  if (addresses.empty()) return ok_status();
  return lower(stopped, threads, [&](uint64_t address) {
    return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
  });
}

Status lower_all_semaphores(const Stopped& stopped, uint64_t threads, uint64_t inode) {
  if (!has_not_ended(stopped.pid(), threads, inode)) return ok_status();
  return lower(stopped, threads, [](uint64_t) { return true; });
}

}  // namespace dj
