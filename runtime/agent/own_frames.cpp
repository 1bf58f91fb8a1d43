// SPDX-License-Identifier: Apache-2.0
// Call frame information of djtap's own code, for the program's unwinders. libgcc's asks the C
// library's _dl_find_object() whose code a program counter is, and knows nothing of code that no
// object has; so a hook stands there (dj_find_object) and answers for what is ours.
#include "runtime/agent/own_frames.h"

#include "runtime/agent/arena.h"
#include "runtime/agent/thread.h"
#include "runtime/shared/own_code.h"

using namespace dj;
using agent::arena;

namespace {

// <dlfcn.h>'s struct dl_find_object.
struct FoundObject {
  uint64_t flags;
  uint64_t begin, end;
  uint64_t link_map;
  const void* frames;
  uint64_t reserved[7];
};

// --- DWARF 5, section 6.4, and .eh_frame of the Linux Standard Base ---
constexpr uint8_t kRsp = 7, kRax = 0, kR11 = 11, kReturn = 16;
constexpr uint8_t kDefCfa = 0x0c, kValExpression = 0x16, kOffset = 0x80, kAddress = 0x03;
// Version 1; "zRS": a signal frame, so the caller stands at its next instruction, not behind a
// call; code in units of 1, data of -8; the return address's column; addresses are absolute.
constexpr uint8_t kCommon[] = {16,  0,   0, 0, 0,    0,       0, 0, 1, 'z',
                               'R', 'S', 0, 1, 0x78, kReturn, 1, 0, 0, 0};

class Writer {
 public:
  explicit Writer(uint8_t* to) : to_(to) {}
  uint8_t* here() const { return to_; }
  // Volatile: else the bytes of a number are one access that is not aligned (unaligned.h).
  void byte(uint8_t value) { *static_cast<volatile uint8_t*>(to_++) = value; }
  template <typename T>
  void number(T value) {
    for (uint32_t i = 0; i < sizeof value; i++) byte(static_cast<uint8_t>(value >> 8 * i));
  }
  void uleb(uint32_t value) {
    for (; value >= 128; value >>= 7) byte(static_cast<uint8_t>(value | 128));
    byte(static_cast<uint8_t>(value));
  }
  void saved(uint8_t column, uint32_t below) {
    if (below == 0) return;
    byte(kOffset | column);
    uleb(below / 8);
  }

 private:
  uint8_t* to_;
};

// The program's frame, seen from djtap's: its stack pointer is the CFA, its program counter the
// original instruction's address.
void write_text(abi::FrameText* slot, uint64_t pc, const abi::DetourPlace& place) {
  slot->header = {1, abi::kFormRelative, abi::kFormNone, abi::kFormNone, 4};
  Writer out(slot->text);
  for (uint8_t byte : kCommon) out.byte(byte);
  uint8_t* const length = out.here();
  out.number(uint32_t{0});
  out.number(static_cast<uint32_t>(out.here() - slot->text));  // back to kCommon
  out.number(pc);
  out.number(uint64_t{1});
  out.byte(0);  // no augmentation data
  out.byte(kDefCfa), out.byte(kRsp), out.uleb(place.depth);
  out.byte(kValExpression), out.byte(kReturn), out.byte(1 + sizeof place.original);
  out.byte(kAddress), out.number(place.original);
  out.saved(kR11, place.r11_at);
  out.saved(kRax, place.rax_at);
  while ((out.here() - slot->text) % 4 != 0) out.byte(0);  // DW_CFA_nop
  Writer(length).number(static_cast<uint32_t>(out.here() - length - 4));
  out.number(uint32_t{0});  // the end
}

// Null: there is no room left.
const abi::FrameHeader* text_for(uint64_t pc, const abi::DetourPlace& place) {
  constexpr uint32_t kTries = 64, kMask = (1 << abi::kFrameTextBits) - 1;
  abi::OwnFrames* texts = abi::own_frames_of(arena());
  if (texts == nullptr) return nullptr;
  const auto first = static_cast<uint32_t>(pc * 0x9e3779b97f4a7c15 >> (64 - abi::kFrameTextBits));
  for (uint32_t i = 0; i < kTries; i++) {
    abi::FrameText* slot = &texts->slots[(first + i) & kMask];
    const uint64_t owner = abi::load(&slot->pc);
    if (owner == pc) return &slot->header;
    // Who is writing one for this place now may be below us, interrupted: another one is made.
    if (owner != 0 || !abi::cas(&slot->pc, 0, pc | abi::kBeingWritten)) continue;
    write_text(slot, pc, place);
    abi::store(&slot->pc, pc);
    return &slot->header;
  }
  return nullptr;
}

// --- whose is it? ---

// What this information says of the function that pc is in; 0: nothing. All of it is of clang: four
// bytes, relative to themselves.
uint64_t description_in(const abi::FrameHeader& header, uint64_t pc) {
  if (header.version == 0) return 0;
  uint64_t at =
      reinterpret_cast<uint64_t>(&header.frames) + static_cast<uint64_t>(int64_t{header.frames});
  while (const uint32_t length = *reinterpret_cast<const uint32_t*>(at)) {
    const auto* words = reinterpret_cast<const int32_t*>(at);
    const bool common = words[1] == 0;
    const uint64_t begin = at + 8 + static_cast<uint64_t>(int64_t{words[2]});
    if (!common && pc - begin < static_cast<uint32_t>(words[3])) return at;
    at += length + 4;
  }
  return 0;
}

// The detour that pc is in, as *detour. False: none, or one that nothing is known of.
bool find_detour(const abi::OwnArea& own, uint64_t pc, abi::DetourCode* detour) {
  constexpr uint64_t kMostUnits = 256;  // of a detour
  const auto* ends = reinterpret_cast<const uint64_t*>(own.ends);
  const auto* offsets = reinterpret_cast<const uint32_t*>(own.offsets);
  const uint64_t all = (own.area.end - own.area.begin) / abi::kDetourUnit;
  uint64_t unit = (pc - own.area.begin) / abi::kDetourUnit;
  const uint64_t limit = unit + kMostUnits < all ? unit + kMostUnits : all;
  const auto ends_here = [&](uint64_t i) {
    return (ends[i / abi::kUnitsInWord] >> i % abi::kUnitsInWord & 1) != 0;
  };
  while (unit < limit && !ends_here(unit)) unit++;
  if (unit == limit) return false;
  uint64_t note = own.notes + offsets[unit / abi::kUnitsInWord];
  for (uint64_t i = unit - unit % abi::kUnitsInWord; i < unit; i++) {
    if (ends_here(i)) note = abi::DetourCode(note, 0).behind();
  }
  *detour = abi::DetourCode(note, own.area.begin + (unit + 1) * abi::kDetourUnit);
  return pc >= detour->begin();
}

bool is_stub(const abi::OwnArea& own, uint64_t pc) {
  const auto* ranges = reinterpret_cast<const abi::CodeRange*>(own.stubs);
  uint64_t low = 0, high = own.stub_count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (pc >= ranges[middle].end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < own.stub_count && pc >= ranges[low].begin;
}

bool contains(const abi::CodeRange& range, uint64_t pc) {
  return pc >= range.begin && pc < range.end;
}

// The first code area for which holds(OwnArea) says so; null: there is none.
template <typename Holds>
const abi::OwnArea* find_area(const Holds& holds) {
  const abi::Header* header = arena();
  const bool dlopened =
      header->own_code_dlopened != 0 && agent::process_id() == header->target_own_pid;
  const uint64_t lists[] = {header->own_code, dlopened ? header->own_code_dlopened : 0};
  for (uint64_t first : lists) {
    for (auto* own = reinterpret_cast<const abi::OwnArea*>(first); own != nullptr;
         own = reinterpret_cast<const abi::OwnArea*>(own->next)) {
      if (holds(*own)) return own;
    }
  }
  return nullptr;
}

const abi::FrameHeader* frames_in_code(const abi::OwnArea& own, uint64_t pc) {
  for (const abi::FrameHeader& frames : own.frames) {
    if (description_in(frames, pc) != 0) return &frames;
  }
  // The kernel leaves an rseq critical section by a jump outside of its function (rseq.h).
  abi::DetourPlace place;
  place.original = agent::jump_target(pc);
  return place.original == 0 ? nullptr : text_for(pc, place);
}

// Null: it is not ours, or nothing is known.
const abi::FrameHeader* frames_of(uint64_t pc) {
  const uint64_t at = agent::behind_stub(pc);  // there the program is where the detour begins
  const auto* own = find_area([at](const abi::OwnArea& area) { return contains(area.area, at); });
  if (own == nullptr) return nullptr;
  if (!contains(own->detours, at)) return frames_in_code(*own, pc);
  abi::DetourPlace place;
  abi::DetourCode detour;
  const bool found = find_detour(*own, at, &detour) && detour.find(at, &place);
  return found ? text_for(pc, place) : nullptr;
}

bool find_detour(uint64_t pc, abi::DetourCode* detour) {
  const auto* own =
      find_area([pc](const abi::OwnArea& area) { return contains(area.detours, pc); });
  return own != nullptr && find_detour(*own, pc, detour);
}

}  // namespace

bool agent::find_in_detours(uint64_t pc, abi::DetourPlace* place) {
  abi::DetourCode detour;
  return find_detour(pc, &detour) && detour.find(pc, place);
}

uint64_t agent::copy_in_detour(uint64_t pc, uint64_t original) {
  abi::DetourCode detour;
  return find_detour(pc, &detour) ? detour.copy_of(original) : 0;
}

bool agent::is_own_code(uint64_t pc) {
  return find_area([pc](const abi::OwnArea& own) {
           return contains(own.area, pc) || is_stub(own, pc);
         }) != nullptr;
}

uint64_t agent::behind_stub(uint64_t pc) {
  const auto* own = find_area([pc](const abi::OwnArea& area) { return is_stub(area, pc); });
  return own != nullptr ? jump_target(pc) : pc;
}

uint64_t agent::find_description(uint64_t pc) {
  uint64_t found = 0;
  find_area([pc, &found](const abi::OwnArea& own) {
    for (const abi::FrameHeader& frames : own.frames) {
      if (found == 0 && contains(own.area, pc)) found = description_in(frames, pc);
    }
    return found != 0;
  });
  return found;
}

uint64_t agent::jump_target(uint64_t pc) {
  constexpr uint8_t kJump = 0xe9, kJumpBytes = 5;
  if (*reinterpret_cast<const uint8_t*>(pc) != kJump) return 0;
  return pc + kJumpBytes + static_cast<uint64_t>(int64_t{abi::number_at(pc + 1)});
}

uint32_t dj_own_object(uint64_t pc, void* object) {
  const abi::FrameHeader* frames = frames_of(pc);
  if (frames == nullptr) return 0;
  abi::OwnFrames* texts = abi::own_frames_of(arena());
  abi::store(&texts->object[1], reinterpret_cast<uint64_t>(&texts->object[5]));  // l_name
  auto* found = static_cast<FoundObject*>(object);
  *found = {0, pc, pc + 1, reinterpret_cast<uint64_t>(texts->object), frames, {}};
  return 1;
}
