// SPDX-License-Identifier: Apache-2.0
// DetourNote says in a few bytes what unwinders must know of a detour: which of the program's
// instructions each part of it stands for. The controller writes it; the target reads it when an
// unwinder leaves a detour (own_code.h). Freestanding.
//
// A detour takes whole units of 16 bytes; its note is:
//   units of the detour
//   number of pieces (5 bits), flags
//   [index of the piece that the handlers stand before; kGapInside]
//   bytes of the handlers before that piece; 255: two more bytes, the low one first
//   of each piece: its bytes in the program | (bytes here - those) << 4; 15 << 4: bytes here follow
//   [begin of the region less begin of the detour, four bytes, the low one first; kPlaceGiven]
// A piece is the copy of an instruction (arch::Detour::Piece). Without kPlaceGiven a jump to the
// region's end follows the pieces, which says where the region is.
#pragma once
#include <stdint.h>

#include "runtime/shared/unaligned.h"

namespace dj::abi {

constexpr uint32_t kDetourUnit = 16;
constexpr uint8_t kNotePieces = 31, kGapInside = 32, kPlaceGiven = 64;
constexpr uint32_t kNoteBytesMax = 32;

// Four bytes, signed, the low one first.
inline int32_t number_at(uint64_t address) {
  return read_unaligned<int32_t>(reinterpret_cast<const void*>(address));
}

// DetourPlace: a program counter in a detour, as the program has it. Distances downwards from the
// program's stack pointer, in bytes; 0: not saved.
struct DetourPlace {
  uint64_t original = 0;  // the program's instruction that is to be executed next, or is now
  uint32_t depth = 0;     // of the stack pointer
  uint32_t r11_at = 0, rax_at = 0;  // of the program's values
};

// DetourCode: one detour with its note.
class DetourCode {
 public:
  DetourCode() = default;
  // note: its address; end: behind the detour's last unit.
  DetourCode(uint64_t note, uint64_t end)
      : note_(note), begin_(end - uint64_t{kDetourUnit} * take()) {}
  uint64_t begin() const { return begin_; }
  // Address of the next note.
  uint64_t behind() {
    const Head head = take_head();
    for (uint32_t i = head.count; i > 0; i--) take_piece();
    return note_ + (head.is_placed ? 4 : 0);
  }
  // Where the copy of the program's instruction at `original` begins; 0: there is none, or it is
  // the region's first.
  uint64_t copy_of(uint64_t original) const {
    DetourPlace first;
    if (!DetourCode(*this).find(begin_, &first)) return 0;
    DetourCode code = *this;
    const Head head = code.take_head();
    uint64_t at = begin_, there = first.original;
    for (uint32_t i = 0; i < head.count; i++) {
      // Who arrives at an exit has not met its handlers, which stand before it.
      if (i > 0 && there == original) return at;
      if (i == head.gap_index) at += head.gap;
      const Piece piece = code.take_piece();
      at += piece.here, there += piece.there;
    }
    return 0;
  }

  // Calls each(pc) where what find() says may change, ascending. end: behind the detour's last
  // unit.
  template <typename Each>
  void each_row(uint64_t end, const Each& each) const {
    const auto each_step = [&each](uint64_t from, uint64_t to) {
      while (from < to) {
        each(from);
        const uint32_t bytes = step(reinterpret_cast<const uint8_t*>(from)).bytes;
        if (bytes == 0) return;
        from += bytes;
      }
    };
    DetourCode code = *this;
    const Head head = code.take_head();
    uint64_t at = begin_;
    for (uint32_t i = 0; i < head.count; i++) {
      if (i == head.gap_index) {
        each_step(at, at + head.gap);
        at += head.gap;
      }
      const Piece piece = code.take_piece();
      if (piece.here == piece.there) {
        each(at);
      } else {
        each_step(at, at + piece.here);
      }
      at += piece.here;
    }
    each_step(at, end);
  }

  // pc: at or behind begin(). False: it cannot be told.
  bool find(uint64_t pc, DetourPlace* place) {
    const Head head = take_head();
    uint64_t at = begin_;  // of the next part
    uint32_t offset = 0;   // in the region
    uint32_t last = 0;     // offset of the last piece
    Part found = {begin_, 0, false};
    for (uint32_t i = 0; i < head.count; i++) {
      if (i == head.gap_index) {
        if (pc >= at) found = {at, offset, true};
        at += head.gap;
      }
      const Piece piece = take_piece();
      if (pc >= at) found = {at, offset, piece.here != piece.there};
      at += piece.here;
      last = offset;
      offset += piece.there;
    }
    if (pc >= at) found = {at, offset, true};
    uint64_t region = begin_;
    if (head.is_placed) {
      region += extended(static_cast<int32_t>(take4()));
    } else {
      region = at + kJump + extended(number_at(at + 1)) - offset;
    }
    bool behind_jump = false;
    if (found.has_frames && !walk(found.begin, pc, place, &behind_jump)) return false;
    // What lies behind the way back are the handlers of an exit that is taken.
    place->original = region + (found.begin == at && behind_jump ? last : found.offset);
    return true;
  }

 private:
  static constexpr uint32_t kJump = 5;
  struct Part {
    uint64_t begin;
    uint32_t offset;
    bool has_frames;  // else one instruction
  };
  struct Step {
    uint32_t bytes;  // of an instruction; 0: unknown
    int64_t down;    // by which it lowers the stack pointer
  };

  struct Head {
    uint32_t count, gap_index, gap;
    bool is_placed;
  };
  struct Piece {
    uint32_t there, here;  // bytes in the program, in the detour
  };
  Head take_head() {
    const uint8_t head = take();
    Head out = {head & uint32_t{kNotePieces}, 0, 0, (head & kPlaceGiven) != 0};
    if (head & kGapInside) out.gap_index = take();
    out.gap = take();
    if (out.gap == 255) {
      out.gap = take();
      out.gap |= uint32_t{take()} << 8;
    }
    return out;
  }
  Piece take_piece() {
    const uint8_t both = take();
    const uint32_t there = both & 15;
    return {there, both >> 4 == 15 ? take() : there + (both >> 4)};
  }

  uint8_t take() { return *reinterpret_cast<const uint8_t*>(note_++); }
  uint32_t take4() {
    const int32_t value = number_at(note_);
    note_ += sizeof value;
    return static_cast<uint32_t>(value);
  }
  static uint64_t extended(int32_t value) { return static_cast<uint64_t>(int64_t{value}); }

  // The instructions that arch::Code writes around handlers, and for a moved call.
  static Step step(const uint8_t* c) {
    const bool to_r8 = c[0] == 0x41;  // push and pop of r8 to r15
    const uint8_t op = c[to_r8];
    if (op >= 0x50 && op <= 0x57) return {1u + to_r8, 8};
    if (op >= 0x58 && op <= 0x5f) return {1u + to_r8, -8};
    switch (c[0]) {
      case 0x6a:  // push $imm8
        return {2, 8};
      case 0x68:
        return {5, 8};
      case 0xff:  // push n(%rsp), call *word(%rip)
        if (c[1] == 0x15) return {6, 0};
        if (c[1] == 0x34) return {3, 8};
        if (c[1] == 0x74) return {4, 8};
        if (c[1] == 0xb4) return {7, 8};
        return step_of_decision(c);
      case 0x48:  // lea n(%rsp),%rsp
        if (c[1] != 0x8d || c[3] != 0x24) return step_of_decision(c);
        if (c[2] == 0x64) return {5, -int64_t{static_cast<int8_t>(c[4])}};
        if (c[2] == 0xa4) return {8, -int64_t{number_at(reinterpret_cast<uint64_t>(c + 4))}};
        return step_of_decision(c);
      case 0xe8:
      case 0xe9:
        return {kJump, 0};
      case 0xc7:  // movl $imm,(%rsp), 4(%rsp) and 136(%rsp)
        return {c[1] == 0x44 ? 8u : c[1] == 0x84 ? 11u : 7u, 0};
      case 0x65:  // add to %gs:word
        return {c[2] == 0xff ? 9u : c[2] == 0x83 ? 10u : 13u, 0};
      case 0x9e:
      case 0x9f:
        return {1, 0};
      case 0x0f:  // seto %al, jcc
        return {c[1] == 0x90 ? 3u : 6u, 0};
      case 0x04:
      case 0x72:
      case 0x74:
      case 0x75:
      case 0xeb:
      case 0xe0:
      case 0xe1:
      case 0xe2:
      case 0xe3:
        return {2, 0};
      default:
        return step_of_decision(c);
    }
  }
  // Those that find out where an indirect jump leads (arch/x86_64/leaving.cpp), and the jump.
  static Step step_of_decision(const uint8_t* c) {
    constexpr uint8_t kNoTrack = 0x3e, kBound = 0xf2, kLoad = 0x8b, kLea = 0x8d, kCompare = 0x39;
    const uint8_t* op = c;
    if (*op == kNoTrack || *op == kBound) op++;
    if ((*op & 0xf0) == 0x40) op++;  // REX
    const bool jump = *op == 0xff && (op[1] >> 3 & 7) == 4;
    if (!jump && *op != kLoad && *op != kLea && *op != kCompare) return {0, 0};
    return {static_cast<uint32_t>(op - c) + 1 + operand_bytes(op + 1), 0};
  }
  // Of ModRM, SIB and displacement.
  static uint32_t operand_bytes(const uint8_t* modrm) {
    const uint32_t mode = *modrm >> 6, memory = *modrm & 7;
    if (mode == 3) return 1;
    const bool sib = memory == 4;
    const uint32_t base = sib ? modrm[1] & 7 : memory;
    const uint32_t displacement = mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
    return 1 + sib + displacement;
  }
  static bool walk(uint64_t at, uint64_t pc, DetourPlace* place, bool* behind_jump) {
    constexpr uint8_t kJb = 0x72, kJmpShort = 0xeb;
    int64_t depth = 0;
    DetourPlace branched;      // the frame at the last short branch,
    uint64_t branched_to = 0;  // which led there
    while (at < pc) {
      const auto* code = reinterpret_cast<const uint8_t*>(at);
      const Step next = step(code);
      if (next.bytes == 0) return false;
      if (at + next.bytes > pc) break;  // in a call that has not returned
      depth += next.down;
      if (depth < 0) return false;
      const auto down = static_cast<uint32_t>(depth);
      if (code[0] == 0x41 && code[1] == 0x53) place->r11_at = down;
      if (code[0] == 0x50 && place->rax_at == 0) place->rax_at = down;
      if (down < place->r11_at) place->r11_at = 0;
      if (down < place->rax_at) place->rax_at = 0;
      *behind_jump = *behind_jump || code[0] == 0xe9;
      at += next.bytes;
      if (code[0] == kJb) {
        branched = *place;
        branched.depth = down;
        branched_to = at + extended(static_cast<int8_t>(code[1]));
      } else if (code[0] == kJmpShort && at == branched_to) {
        *place = branched;
        depth = branched.depth;
      }
    }
    place->depth = static_cast<uint32_t>(depth);
    return true;
  }

  uint64_t note_ = 0;
  uint64_t begin_ = 0;
};

}  // namespace dj::abi
