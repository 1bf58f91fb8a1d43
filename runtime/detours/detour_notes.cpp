// SPDX-License-Identifier: Apache-2.0
// Notes are made from the pieces of detours, and written all at once in the order of addresses.
#include "runtime/detours/detour_notes.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/sort_runs.h"
#include "runtime/shared/atomic.h"
#include "runtime/shared/detour_note.h"
#include "runtime/shared/own_code.h"

namespace dj {
namespace {

constexpr uint8_t kJump = 0xe9;

abi::OwnArea& own_at(CodeArea& area, uint64_t address) {
  return *reinterpret_cast<abi::OwnArea*>(area.view(address, sizeof(abi::OwnArea)).data());
}

// Bytes of the region up to the piece behind this one, or up to the region's end.
uint32_t length_there(const arch::Detour& detour, size_t piece) {
  const auto& pieces = detour.pieces;
  if (piece + 1 < pieces.size()) return pieces[piece + 1].offset - pieces[piece].offset;
  return detour.end - pieces[piece].offset;
}

class NoteWriter {
 public:
  Note note;

  // False: it needs more than a note can say.
  bool write(const arch::Detour& detour, uint64_t at, uint64_t original) {
    const auto& pieces = detour.pieces;
    if (pieces.size() > abi::kNotePieces) return false;
    uint32_t expected = 0, gap = pieces.empty() ? uint32_t(detour.bytes.size()) : 0;
    size_t gap_index = 0;
    for (size_t i = 0; i < pieces.size(); i++) {
      if (pieces[i].begin != expected) {
        if (gap != 0) return false;  // handlers in two places
        gap = pieces[i].begin - expected;
        gap_index = i;
      }
      expected = pieces[i].end;
    }
    uint32_t covered = pieces.empty() ? gap : expected;
    const bool given = !leads_back(detour, covered, at, original);
    note.push_back(0);  // units, when they are known
    note.push_back(uint8_t(pieces.size() | (gap_index != 0 ? abi::kGapInside : 0) |
                           (given ? abi::kPlaceGiven : 0)));
    if (gap_index != 0) note.push_back(uint8_t(gap_index));
    if (gap >= 255) {
      note.append({{255, uint8_t(gap), uint8_t(gap >> 8)}});
    } else {
      note.push_back(uint8_t(gap));
    }
    for (size_t i = 0; i < pieces.size(); i++) {
      const uint32_t there = length_there(detour, i);  // behind a return, what is unused too
      const bool last = given && i + 1 == pieces.size();
      if (!write_piece(last ? std::min(there, 15u) : there, pieces[i].end - pieces[i].begin)) {
        return false;
      }
    }
    if (given) {
      const auto distance = static_cast<int64_t>(original - at);
      if (distance != static_cast<int32_t>(distance)) return false;
      for (int shift = 0; shift < 32; shift += 8) note.push_back(uint8_t(distance >> shift));
    }
    return note.size() <= abi::kNoteBytesMax;
  }

 private:
  // Is there the jump to the region's end behind the pieces?
  static bool leads_back(const arch::Detour& detour, uint32_t behind, uint64_t at,
                         uint64_t original) {
    if (behind + 5 > detour.bytes.size() || detour.bytes[behind] != kJump) return false;
    const int32_t distance = abi::number_at(reinterpret_cast<uint64_t>(&detour.bytes[behind + 1]));
    return at + behind + 5 + static_cast<uint64_t>(int64_t{distance}) == original + detour.end;
  }

  bool write_piece(uint32_t there, uint32_t here) {
    constexpr uint32_t kMore = 15;
    if (there == 0 || there > 15 || here > 255) return false;
    if (here >= there && here - there < kMore) {
      note.push_back(uint8_t(there | (here - there) << 4));
    } else {
      note.append({{uint8_t(there | kMore << 4), uint8_t(here)}});
    }
    return true;
  }
};

}  // namespace

Note make_note(const arch::Detour& detour, uint64_t at, uint64_t original) {
  NoteWriter writer;
  const uint64_t units = (detour.bytes.size() + abi::kDetourUnit - 1) / abi::kDetourUnit;
  if (at % abi::kDetourUnit != 0 || units > 255 || !writer.write(detour, at, original)) return {};
  writer.note[0] = static_cast<uint8_t>(units);
  return writer.note;
}

void place_note(std::span<uint8_t> note, uint64_t at, uint64_t original) {
  constexpr size_t kPlace = 4;
  if (note.size() < 2 + kPlace || (note[1] & abi::kPlaceGiven) == 0) return;
  const auto distance = static_cast<int32_t>(original - at);
  memcpy(&note[note.size() - kPlace], &distance, kPlace);
}

namespace {

uint64_t words_of(uint64_t area) {
  constexpr uint64_t kWord = uint64_t{abi::kDetourUnit} * abi::kUnitsInWord;
  return (area + kWord - 1) / kWord;
}

}  // namespace

uint64_t AreaNotes::index_bytes(uint64_t detours) {
  return words_of(detours) * (sizeof(uint64_t) + sizeof(uint32_t));
}

uint64_t AreaNotes::bytes_for(uint64_t area, uint64_t stubs) {
  constexpr uint64_t kSlack = 256;
  return sizeof(abi::OwnArea) + stubs * sizeof(abi::CodeRange) + index_bytes(area) * 9 / 8 + kSlack;
}

Result<AreaNotes> AreaNotes::make(CodeArea& area, std::span<const StubPages> stubs,
                                  uint64_t agent_frames, uint64_t handler_frames) {
  const uint64_t words = words_of(area.end() - area.base());
  const uint64_t ranges = stubs.size() * sizeof(abi::CodeRange);
  const uint64_t room = sizeof(abi::OwnArea) + ranges + words * (8 + 4);
  const std::optional<uint64_t> at = area.reserve(room);
  if (!at) return Error{"no room left for code near the module"};
  AreaNotes notes;
  notes.at_ = *at;
  abi::OwnArea& own = own_at(area, *at);
  own.area = {area.base(), area.end()};
  own.detours = {*at + room, area.end()};
  own.stubs = *at + sizeof own;
  own.stub_count = stubs.size();
  own.ends = own.stubs + ranges;
  own.offsets = own.ends + words * 8;
  for (size_t i = 0; i < stubs.size(); i++) {
    const abi::CodeRange range = {stubs[i].range.begin, stubs[i].range.end};
    memcpy(area.view(own.stubs + i * sizeof range, sizeof range).data(), &range, sizeof range);
  }
  const uint64_t frames[] = {agent_frames, handler_frames};
  for (size_t i = 0; i < 2; i++) {
    const uint64_t field = *at + offsetof(abi::OwnArea, frames) + i * sizeof(abi::FrameHeader) +
                           offsetof(abi::FrameHeader, frames);
    if (frames[i] == 0) continue;
    own.frames[i] = {1, abi::kFormRelative, abi::kFormNone, abi::kFormNone,
                     static_cast<int32_t>(frames[i] - field)};
  }
  return notes;
}

uint32_t AreaNotes::add(uint64_t at, uint64_t whole, std::span<const uint8_t> note, uint64_t stub) {
  const auto place = static_cast<uint32_t>(bytes_.size());
  if (note.empty()) return place;
  if (own_code_ != nullptr) {
    add_late({at, at + whole}, note, stub);
    return place;
  }
  noted_.push_back({at + whole, place, static_cast<uint32_t>(note.size())});
  bytes_.insert(bytes_.end(), note.begin(), note.end());
  return place;
}

// Where there is no room, its stacks end in it.
void AreaNotes::add_late(const AddressRange& detour, std::span<const uint8_t> note, uint64_t stub) {
  constexpr uint64_t kStubBytes = 5;
  struct Late {
    abi::OwnArea own;
    abi::CodeRange stub;
    uint64_t ends[4];
    uint32_t offsets[4];
    uint8_t note[abi::kNoteBytesMax + 1];
  };
  static_assert(sizeof(Late) <= kLateBytes);
  const uint64_t last = (detour.end - detour.begin) / abi::kDetourUnit - 1;
  if (last >= uint64_t{4} * abi::kUnitsInWord || note.size() > abi::kNoteBytesMax) return;
  const std::optional<uint64_t> at = area_->reserve(sizeof(Late));
  if (!at) return;
  Late& late = *reinterpret_cast<Late*>(area_->view(*at, sizeof(Late)).data());
  late = {};
  late.own.next = abi::load(own_code_);
  late.own.area = late.own.detours = {detour.begin, detour.end};
  late.own.stubs = *at + offsetof(Late, stub);
  late.own.stub_count = stub != 0 ? 1 : 0;
  late.own.ends = *at + offsetof(Late, ends);
  late.own.offsets = *at + offsetof(Late, offsets);
  late.own.notes = *at + offsetof(Late, note);
  late.stub = {stub, stub + kStubBytes};
  late.ends[last / abi::kUnitsInWord] = uint64_t{1} << last % abi::kUnitsInWord;
  std::copy(note.begin(), note.end(), late.note);
  abi::store(own_code_, *at);
  written_.push_back(*at);
}

std::span<const uint8_t> AreaNotes::note(uint32_t place, uint32_t bytes) const {
  return std::span(bytes_).subspan(place, bytes);
}

Status AreaNotes::finish(CodeArea& area, uint64_t* own_code) {
  abi::OwnArea& own = own_at(area, at_);
  sort_runs(noted_.begin(), noted_.end());
  const std::optional<uint64_t> at = area.reserve(bytes_.size() + 1);
  if (!at) return Error{"no room left for code near the module"};
  own.notes = *at;
  const uint64_t words = (own.offsets - own.ends) / 8;
  auto* ends = reinterpret_cast<uint64_t*>(area.view(own.ends, words * 8).data());
  auto* offsets = reinterpret_cast<uint32_t*>(area.view(own.offsets, words * 4).data());
  uint8_t* to = area.view(*at, bytes_.size() + 1).data();
  uint32_t offset = 0;
  for (const Noted& noted : noted_) {
    const uint64_t unit = (noted.end - area.base()) / abi::kDetourUnit - 1;
    uint64_t& word = ends[unit / abi::kUnitsInWord];
    if (word == 0) offsets[unit / abi::kUnitsInWord] = offset;
    word |= uint64_t{1} << unit % abi::kUnitsInWord;
    memcpy(to + offset, &bytes_[noted.place], noted.bytes);
    offset += noted.bytes;
  }
  noted_ = {};
  own.next = abi::load(own_code);
  abi::store(own_code, at_);
  written_.push_back(at_);
  area_ = &area;
  own_code_ = own_code;
  return ok_status();
}

}  // namespace dj
