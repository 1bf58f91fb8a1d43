// SPDX-License-Identifier: Apache-2.0
// Where a head ends, and the table of heads: open addressing, filled without a lock.
#include "arch/x86_64/decode_cache.h"

#include <array>
#include <atomic>
#include <cstring>

namespace dj::arch {
namespace {

constexpr size_t kMaxHead = 8, kMaxPrefixes = 4, kMaxInstruction = 15;

constexpr bool is_prefix(uint8_t byte) {
  constexpr uint8_t kLegacy[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
  for (const uint8_t prefix : kLegacy) {
    if (byte == prefix) return true;
  }
  return byte >= 0x40 && byte <= 0x4f;  // REX
}

constexpr bool has_modrm(uint8_t op) {
  if (op < 0x40) return (op & 7) < 4;
  return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) ||
         (op & 0xfe) == 0xc0 || (op & 0xfe) == 0xc6 || (op >= 0xd0 && op <= 0xd3) ||
         (op >= 0xd8 && op <= 0xdf) || (op & 0xf6) == 0xf6;
}

constexpr bool has_modrm_after_0f(uint8_t op) {
  return !((op >= 0x04 && op <= 0x0b) || op == 0x0e || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
           (op >= 0x80 && op <= 0x8f) || (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
           (op >= 0xc8 && op <= 0xcf));
}

enum Role : uint8_t { kPrefix = 1, kWithModrm = 2, kWithModrmAfter0f = 4 };

constexpr std::array<uint8_t, 256> kRoles = [] {
  std::array<uint8_t, 256> roles{};
  for (size_t i = 0; i < roles.size(); i++) {
    const auto byte = uint8_t(i);
    roles[i] = uint8_t((is_prefix(byte) ? kPrefix : 0) | (has_modrm(byte) ? kWithModrm : 0) |
                       (has_modrm_after_0f(byte) ? kWithModrmAfter0f : 0));
  }
  return roles;
}();

constexpr size_t kSlotBits = 16, kSlots = size_t(1) << kSlotBits, kTries = 4;
enum class State : uint8_t { Empty, Filling, Full };

// All zero at first, so that no page of the table is touched before it is used.
struct Slot {
  uint64_t key;
  std::atomic<State> state;
  std::array<uint8_t, sizeof(Head)> head;
};
static_assert(std::is_trivially_copyable_v<Head> && sizeof(Slot) == 32);
constinit Slot slots[kSlots]{};

// Two heads never share a key: where a head ends, its own bytes say.
uint64_t key_of(const uint8_t* bytes, size_t size) {
  uint64_t key;
  std::memcpy(&key, bytes, sizeof key);
  return key & (~uint64_t(0) >> (64 - 8 * size));
}

Slot& slot_of(uint64_t key, size_t tries) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  return slots[((key * kGolden >> (64 - kSlotBits)) + tries) % kSlots];
}

}  // namespace

size_t head_size(std::span<const uint8_t> bytes) {
  if (bytes.size() < kMaxInstruction) return 0;
  const uint8_t* b = bytes.data();
  size_t n = 0;
  while (kRoles[b[n]] & kPrefix) {
    if (++n > kMaxPrefixes) return 0;
  }
  bool modrm = true;
  switch (b[n]) {
    case 0x0f:
      n++;
      if (b[n] == 0x38 || b[n] == 0x3a) {
        n++;
      } else {
        modrm = kRoles[b[n]] & kWithModrmAfter0f;
      }
      break;
    case 0xc5:  // VEX of two bytes; vzeroupper is its only opcode without ModRM
      n += 2;
      modrm = b[n] != 0x77;
      break;
    case 0xc4:  // VEX of three bytes
      n += 3;
      break;
    case 0x62:  // EVEX
      n += 4;
      break;
    default:
      modrm = kRoles[b[n]] & kWithModrm;
  }
  n++;
  if (modrm) {
    const uint8_t byte = b[n++];
    if (byte < 0xc0 && (byte & 7) == 4) n++;  // SIB
  }
  return n <= kMaxHead ? n : 0;
}

bool known_head(const uint8_t* bytes, size_t size, Head& head) {
  const uint64_t key = key_of(bytes, size);
  for (size_t tries = 0; tries < kTries; tries++) {
    const Slot& slot = slot_of(key, tries);
    if (slot.state.load(std::memory_order_acquire) != State::Full) return false;
    if (slot.key != key) continue;
    std::memcpy(&head, slot.head.data(), sizeof head);
    return true;
  }
  return false;
}

void keep_head(const uint8_t* bytes, size_t size, const Head& head) {
  const uint64_t key = key_of(bytes, size);
  for (size_t tries = 0; tries < kTries; tries++) {
    Slot& slot = slot_of(key, tries);
    State state = State::Empty;
    if (slot.state.compare_exchange_strong(state, State::Filling, std::memory_order_acquire)) {
      slot.key = key;
      std::memcpy(slot.head.data(), &head, sizeof head);
      slot.state.store(State::Full, std::memory_order_release);
      return;
    }
    if (state == State::Full && slot.key == key) return;
  }
}

}  // namespace dj::arch
