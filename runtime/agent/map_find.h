// SPDX-License-Identifier: Apache-2.0
// map_find() finds an element of an array. Arrays stay exact without locks, because:
//
// * A chain only grows at its head, and every change of a link changes its tag. A thread that has
//   walked a chain to its end without its key, and then swings the head from the value that it
//   began with, knows that no other thread has inserted the key meanwhile: no key ever stands in it
//   twice.
// * A node's state names its incarnation. What is read of a node counts only if the link that led
// to
//   it has not changed since: then it was in the chain all the time, and state, hash and keys
//   belong together.
// * An element ends when its state loses kNodeAlive. A word is changed together with the state (16
//   bytes), so a change never lands in a later element that got the same node. Adding to a Stat is
//   more than one store: the adder registers as a user in the state, and the node is used again
//   only when the last user has left.
// * The first thread that meets a dead node marks it (its link is final) and unlinks it. A thread
//   killed after any of these steps leaves at most one node that is never used again.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/cold_call.h"
#include "runtime/shared/map.h"

#pragma GCC visibility push(hidden)
extern "C" {
// map_cold.cpp. Takes the dead `node`, to which *prev led as `link`, out of its chain. Returns
// *prev's new value, or 0: something changed, walk again.
DJ_COLD_CALL uint64_t dj_map_unlink(const dj::abi::Map* map, uint64_t* prev, uint64_t link,
                                    dj::abi::MapNode* node);
// Inserts an element; `value`: the word, or the first sample. False: there is one already.
DJ_COLD_CALL bool dj_map_insert(const dj::abi::Map* map, const uint64_t* keys, uint32_t hash,
                                uint64_t value);
// The last user of an unlinked node left.
DJ_COLD_CALL void dj_map_release(const dj::abi::Map* map, dj::abi::MapNode* node);
// The word of an element wherever it stands, 0 without one.
DJ_COLD_CALL int64_t dj_map_look(const dj::abi::Map* map, const uint64_t* keys, uint32_t hash);
// element = element op operand, from 0 when absent, whatever stands in the way. Returns the new
// value; *old: the one before.
DJ_COLD_CALL uint64_t dj_map_change(const dj::abi::Map* map, const uint64_t* keys, uint32_t hash,
                                    uint32_t op, uint64_t operand, uint64_t* old);
// Adds a sample to an element of an array of statistics, whatever stands in the way.
DJ_COLD_CALL void dj_map_add_sample(const dj::abi::Map* map, const uint64_t* keys, uint32_t hash,
                                    int64_t sample);
}
#pragma GCC visibility pop

namespace dj::agent {

// Beyond these an operation is given up and counted: a thread that shares the arena may change it
// as fast as others look.
constexpr uint32_t kMapTries = 1u << 20;
constexpr uint64_t kMapSteps = 1u << 22;  // nodes that one search looks at
// Of one chain. No keys of a program make so long a one; links that lead in a circle do.
constexpr uint32_t kMostInChain = 1u << 14;

struct Found {
  abi::MapNode* node = nullptr;  // null: there is no such element
  uint64_t state = 0;            // of the node
  uint64_t first = 0;            // the head's link, as the walk found it
  bool given_up = false;
};

inline uint32_t hash_keys(const uint64_t* keys, uint32_t count) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < count; ++i) {
    hash = (hash ^ keys[i]) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  return static_cast<uint32_t>(hash);
}

inline bool same_keys(const uint64_t* a, const uint64_t* b, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

inline uint32_t link_index(uint64_t link) {
  return static_cast<uint32_t>(link & abi::kLinkIndexMask);
}
// A word that names node `index` (plus 1; 0: none) after `old` stood in it, without mark.
inline uint64_t next_link(uint64_t old, uint32_t index) {
  return ((old & ~(abi::kLinkTagOne - 1)) + abi::kLinkTagOne) | index;
}

inline bool is_alive(uint64_t state) { return (state & abi::kNodeAlive) != 0; }
inline bool same_element(uint64_t state, uint64_t other) {
  return ((state ^ other) & ~abi::kNodeUsers) == 0;
}

// One walk along the chain; *left: steps that the search may still take. False: the chain changed
// under the walk.
inline bool map_walk(const abi::Map* map, const uint64_t* keys, uint32_t hash, Found* found,
                     uint64_t* left) {
  uint64_t* head = abi::map_head(agent::place(), map, hash);
  uint64_t* prev = head;
  uint64_t link = abi::load(prev);
  found->first = link;
  found->node = nullptr;
  for (uint32_t steps = 0; steps <= kMostInChain && *left > 0; ++steps, --*left) {
    uint32_t index = link_index(link);
    if (index == 0) return true;
    if (index > map->capacity) break;  // the program wrote into our memory
    abi::MapNode* node = abi::map_node(agent::place(), map, index - 1);
    uint64_t state = abi::load(&node->pair.second);
    uint64_t next = abi::load(&node->link);
    bool same = abi::load(&node->hash) == hash && same_keys(node->keys, keys, map->key_count);
    if (abi::load(prev) != link) return false;
    if (__builtin_expect(!is_alive(state) || (next & abi::kLinkMark) != 0, 0)) {
      link = dj_map_unlink(map, prev, link, node);
      if (link == 0) return false;
      if (prev == head) found->first = link;
      continue;
    }
    if (same) {
      found->node = node;
      found->state = state;
      return true;
    }
    prev = &node->link;
    link = next;
  }
  *left = 0;
  return false;
}

// *left: as map_walk() has it.
inline Found map_find(const abi::Map* map, const uint64_t* keys, uint32_t hash, uint64_t* left) {
  Found found;
  for (uint32_t tries = 0; tries < kMapTries && *left > 0; ++tries) {
    if (map_walk(map, keys, hash, &found, left)) return found;
  }
  count_skip(abi::kSkipMapBusy);
  found.node = nullptr;
  found.given_up = true;
  return found;
}
inline Found map_find(const abi::Map* map, const uint64_t* keys, uint32_t hash) {
  uint64_t left = kMapSteps;
  return map_find(map, keys, hash, &left);
}

// Registers as a user of the node's Stat; false: the element has ended.
inline bool map_pin(abi::MapNode* node, uint64_t state) {
  for (uint32_t tries = 0; tries < kMapTries; ++tries) {
    uint64_t seen = abi::load(&node->pair.second);
    if (!same_element(seen, state)) return false;
    if (abi::cas(&node->pair.second, seen, seen + abi::kNodeUser)) return true;
  }
  return false;
}
inline void map_unpin(const abi::Map* map, abi::MapNode* node) {
  uint64_t left = abi::add(&node->pair.second, 0 - abi::kNodeUser) - abi::kNodeUser;
  if ((left & abi::kNodeUnlinked) != 0 && (left & abi::kNodeUsers) == 0) dj_map_release(map, node);
}

}  // namespace dj::agent
