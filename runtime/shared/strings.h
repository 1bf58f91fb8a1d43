// Strings: the session's interned strings. Insert-only, lock-free: a text gets one address for the
// whole session, so equality is equality of addresses and a string in a global or key is one word.
// Bounded by a budget.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/atomic.h"

namespace dj::abi {

struct Strings {
  uint64_t slot_mask;  // slots - 1
  uint64_t pool_bytes;
  uint64_t used;     // bytes taken from the pool; may run past pool_bytes when it is full
  uint64_t dropped;  // strings that found no room
  uint64_t slots;    // address of slot_mask + 1 words: addresses of Str, 0 empty
  uint64_t pool;
  uint64_t empty;  // address of the interned ""
  uint64_t count;  // slots taken
};

constexpr uint64_t strings_slots(uint64_t pool_bytes) {
  uint64_t n = 1024;
  while (n * 32 < pool_bytes) n *= 2;
  return n;
}
constexpr uint64_t strings_bytes(uint64_t pool_bytes) {
  return sizeof(Strings) + 8 * strings_slots(pool_bytes) + pool_bytes;
}
// Of zero memory of strings_bytes(pool_bytes). The empty string is the pool's first.
inline void strings_init(Strings* strings, uint64_t pool_bytes) {
  strings->slot_mask = strings_slots(pool_bytes) - 1;
  strings->pool_bytes = pool_bytes;
  strings->slots = reinterpret_cast<uint64_t>(strings + 1);
  strings->pool = strings->slots + 8 * (strings->slot_mask + 1);
  strings->empty = strings->pool;
  strings->used = 8;
}

inline uint64_t hash_bytes(const char* data, uint32_t len) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ull;
  uint64_t h = 0xcbf29ce484222325ull ^ len;
  uint32_t i = 0;
  for (; i + 8 <= len; i += 8) {  // names are long, and there may be a hundred thousand
    uint64_t word;
    __builtin_memcpy(&word, data + i, 8);
    h = (h ^ word) * kFactor;
    h ^= h >> 32;
  }
  for (; i < len; ++i) h = (h ^ static_cast<unsigned char>(data[i])) * kFactor;
  return h ^ h >> 29;
}
inline bool same_bytes(const Str* s, const char* data, uint32_t len) {
  if (s->len != len) return false;
  for (uint32_t i = 0; i < len; ++i) {
    if (s->data[i] != data[i]) return false;
  }
  return true;
}
// The one address of this text; null: out of budget (counted in `dropped`).
inline const Str* strings_intern(Strings* strings, const char* data, uint32_t len) {
  if (len == 0) return reinterpret_cast<const Str*>(strings->empty);
  uint64_t* slots = reinterpret_cast<uint64_t*>(strings->slots);
  Str* fresh = nullptr;
  uint64_t at = hash_bytes(data, len) & strings->slot_mask;
  for (uint64_t probe = 0; probe <= strings->slot_mask;
       ++probe, at = (at + 1) & strings->slot_mask) {
    for (;;) {
      uint64_t word = load(&slots[at]);
      if (word != 0) {
        if (same_bytes(reinterpret_cast<const Str*>(word), data, len))
          return reinterpret_cast<const Str*>(word);
        break;  // another text: next slot
      }
      if (fresh == nullptr) {
        // In a fuller table each text that is not there would be compared with many that are.
        if (load(&strings->count) >= (strings->slot_mask + 1) / 4 * 3) {
          add(&strings->dropped, 1);
          return nullptr;
        }
        uint64_t bytes = (sizeof(uint32_t) + len + 7) / 8 * 8;
        uint64_t offset = load(&strings->used);
        // What does not fit takes nothing: shorter ones may.
        while (offset + bytes <= strings->pool_bytes &&
               !cas(&strings->used, offset, offset + bytes))
          offset = load(&strings->used);
        if (offset + bytes > strings->pool_bytes) {
          add(&strings->dropped, 1);
          return nullptr;
        }
        fresh = reinterpret_cast<Str*>(strings->pool + offset);
        fresh->len = len;
        for (uint32_t i = 0; i < len; ++i) fresh->data[i] = data[i];
      }
      if (cas(&slots[at], 0, reinterpret_cast<uint64_t>(fresh))) {
        add(&strings->count, 1);
        return fresh;
      }
    }
  }
  add(&strings->dropped, 1);
  return nullptr;
}

}  // namespace dj::abi
