// SPDX-License-Identifier: Apache-2.0
// TrapTable leads from the address of an int3 to where its thread goes on. The controller writes it
// while all threads are stopped, the SIGTRAP handler reads it without locks; with a per-CPU 4-way
// set-associative cache in front (Hiramatsu, "Scalability Efforts for Kprobes", LinuxCon Japan
// 2014). A cache word packs the low half of an address and the index of its entry, so a torn, stale
// or forged word can only miss. Table and entries are constants; caches, hits and TrapWords are
// data.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/atomic.h"

namespace dj::abi {

struct TrapEntry {
  uint64_t address;  // of the int3; 0: empty
  int32_t detour;    // where to go on, from there: its code area is near
  uint32_t pad;
};
constexpr uint32_t kMostTrapHits = 1u << 31;

inline uint64_t trap_detour(const TrapEntry& entry) {
  return entry.address + static_cast<uint64_t>(int64_t{load(&entry.detour)});
}

constexpr uint32_t kTrapWays = 4;
constexpr uint32_t kTrapSets = 64;
struct TrapCache {
  uint64_t words[kTrapSets][kTrapWays];
  uint64_t next_way;  // round robin
  uint64_t pad[7];
};

// What the application wants done with SIGTRAP (it believes it installed this); the kernel's struct
// sigaction.
struct AppAction {
  uint64_t handler, flags, restorer, mask;
};

// Entries of a TrapTable that are one hash table, at most 2/3 of them used.
struct TrapPart {
  uint64_t first, size;  // entries; a size of 0: none
  uint64_t used;
};

// In TrapTable::stack_small: the program denies itself rt_sigreturn; it wants to be traced.
constexpr uint64_t kNoSigreturn = 1, kTraced = 2;

// What handlers and the agent's hooks write. Data; behind it a uint32_t for each entry: how often
// it was reached, ends at kMostTrapHits.
struct TrapWords {
  uint64_t stack_small;  // bytes of an alternate stack that the program asks for, kNoSigreturn or
                         // kTraced
  uint64_t trapless;     // 1: no trap can come any more; by the controller, or the agent's hook
                         // when that does not answer
};

// The entries follow, those of both parts.
struct TrapTable {
  // Of what was there when the session began, and of objects that the target opened later: those
  // that are there already do not move, and most sessions need no room for more.
  TrapPart begin, dlopened;
  ArenaRef<TrapCache> caches;  // one per CPU and one more. Data
  ArenaRef<TrapWords> words;
  uint64_t cache_on;  // 0: the table alone
  // A signal handler on an alternate stack may trap: a second frame lies on it then.
  uint64_t stack_least;  // bytes, smaller ones have no room
};

constexpr uint64_t kTrapEntriesAt = (sizeof(TrapTable) + 63) / 64 * 64;  // from the TrapTable

// index: of an entry.
inline uint32_t* trap_hits(TrapWords* words, uint64_t index) {
  return reinterpret_cast<uint32_t*>(words + 1) + index;
}

// Entries for `sites` addresses.
constexpr uint64_t trap_entries(uint64_t sites) { return sites + sites / 2 + 64; }
// `sites`: at the beginning; `dlopened`: in objects that come later, 0: none will.
constexpr uint64_t trap_table_bytes(uint64_t sites, uint64_t dlopened) {
  const uint64_t entries = trap_entries(sites) + (dlopened != 0 ? trap_entries(dlopened) : 0);
  return kTrapEntriesAt + entries * sizeof(TrapEntry);
}
// Of the data.
constexpr uint64_t trap_hits_bytes(uint64_t entries) {
  return (sizeof(TrapWords) + entries * sizeof(uint32_t) + 63) / 64 * 64;
}
constexpr uint64_t trap_data_bytes(uint64_t sites, uint64_t dlopened, uint32_t cpus) {
  const uint64_t entries = trap_entries(sites) + (dlopened != 0 ? trap_entries(dlopened) : 0);
  return trap_hits_bytes(entries) + sizeof(TrapCache) * (cpus + 1);
}
// Of zero memory of trap_table_bytes() for the same numbers, 64-byte aligned. `data`: offset in
// the arena of zero memory of trap_data_bytes().
inline void trap_table_init(TrapTable* table, uint64_t data, uint64_t sites, uint64_t dlopened) {
  const uint64_t first = trap_entries(sites),
                 all = first + (dlopened != 0 ? trap_entries(dlopened) : 0);
  table->begin = {0, first, 0};
  table->dlopened = {first, all - first, 0};
  table->words = {static_cast<uint32_t>(data)};
  table->caches = {static_cast<uint32_t>(data + trap_hits_bytes(all))};
  table->cache_on = 0;
}
inline uint64_t trap_hash(uint64_t address) {
  uint64_t h = address * 0x9e3779b97f4a7c15ull;
  return h ^ h >> 32;
}
// Of both parts, one behind the other; 0: no table has been made.
inline uint64_t trap_table_entries(const TrapTable& table) {
  return table.begin.size + table.dlopened.size;
}
inline TrapEntry* trap_entry(const TrapTable* table, uint64_t index) {
  const uint64_t first = reinterpret_cast<uint64_t>(table) + kTrapEntriesAt;
  return reinterpret_cast<TrapEntry*>(first) + index;
}
inline uint64_t trap_index(const TrapTable* table, const TrapEntry* entry) {
  return static_cast<uint64_t>(entry - trap_entry(table, 0));
}
// The entry of the address or, with `empty`, the first that is free for it; null: neither.
inline TrapEntry* trap_part_find(const TrapTable* table, const TrapPart& part, uint64_t address,
                                 bool empty) {
  __extension__ using Wide = unsigned __int128;
  auto at = static_cast<uint64_t>(Wide{trap_hash(address)} * part.size >> 64);
  for (uint64_t i = 0; i < part.size; ++i, at = at + 1 < part.size ? at + 1 : 0) {
    TrapEntry* entry = trap_entry(table, part.first + at);
    if (entry->address == address) return entry;
    if (entry->address == 0) return empty ? entry : nullptr;
  }
  return nullptr;
}
// False: more than 2 GB away.
inline bool trap_set_detour(TrapEntry* entry, uint64_t address, uint64_t detour) {
  const auto distance = static_cast<int64_t>(detour - address);
  if (distance != static_cast<int32_t>(distance)) return false;
  store(&entry->detour, static_cast<int32_t>(distance));
  return true;
}
// False: the part is full, or the detour too far away. `part`: of the table.
inline bool trap_table_insert(TrapTable* table, TrapPart* part, uint64_t address, uint64_t detour) {
  if (3 * part->used >= 2 * part->size) return false;
  TrapEntry* entry = trap_part_find(table, *part, address, true);
  if (!trap_set_detour(entry, address, detour)) return false;
  if (entry->address == 0) part->used++;
  store(&entry->address, address);
  return true;
}
// Null: no int3 of ours.
inline TrapEntry* trap_table_find(const TrapTable* table, uint64_t address) {
  TrapEntry* entry = trap_part_find(table, table->begin, address, false);
  if (entry != nullptr || table->dlopened.size == 0) return entry;
  return trap_part_find(table, table->dlopened, address, false);
}

// The same through a cache, which learns what it did not know. A word of it: low half of the
// address and the entry's index plus 1. The entry itself has the last word.
inline TrapEntry* trap_cached_find(const TrapTable* table, TrapCache* cache, uint64_t address,
                                   bool* hit) {
  uint64_t* set = cache->words[trap_hash(address) >> 40 & (kTrapSets - 1)];
  for (uint32_t way = 0; way < kTrapWays; ++way) {
    uint64_t word = load(&set[way]), index = (word & 0xffffffff) - 1;
    if (word >> 32 != (address & 0xffffffff) || index >= trap_table_entries(*table)) continue;
    TrapEntry* entry = trap_entry(table, index);
    *hit = load(&entry->address) == address;
    if (*hit) return entry;
  }
  TrapEntry* entry = trap_table_find(table, address);
  if (entry == nullptr) return nullptr;
  uint64_t index = trap_index(table, entry);
  uint64_t way = add(&cache->next_way, 1) % kTrapWays;
  store(&set[way], address << 32 | (index + 1));
  return entry;
}

}  // namespace dj::abi
