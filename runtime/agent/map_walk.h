// SPDX-License-Identifier: Apache-2.0
// map_walk.h walks over the elements of an array, or over a slice: those with some given keys.
#pragma once
#include "runtime/agent/map_find.h"

namespace dj::agent {

// Steps that looking at all elements may take: some for each, and those of one search.
inline uint64_t steps_for_all(const abi::Map* map) {
  constexpr uint64_t kForEach = 64;
  return kForEach * map->capacity + kMapSteps;
}

// Whether node `index` is an element now; fills keys, state. *left: steps that may still be taken;
// with none nothing is an element.
inline bool read_node(const abi::Map* map, uint32_t index, uint64_t* keys, uint64_t* state,
                      uint64_t* left) {
  abi::MapNode* node = abi::map_node(agent::place(), map, index);
  if (*left == 0 || !is_alive(abi::load(&node->pair.second))) return false;
  for (uint32_t i = 0; i < map->key_count; ++i) keys[i] = node->keys[i];
  // A node that is being filled is alive before it is part of the array.
  Found found = map_find(map, keys, hash_keys(keys, map->key_count), left);
  if (found.node != node) return false;
  *state = found.state;
  return true;
}

struct Slice {
  const uint64_t* keys;
  uint32_t given;  // bit i: key i must be keys[i]
  bool holds(const uint64_t* of_element) const {
    for (uint32_t i = 0; i < abi::kMaxKeys; ++i) {
      if ((given >> i & 1) != 0 && of_element[i] != keys[i]) return false;
    }
    return true;
  }
};

// Calls visit(index, keys) for every element of the slice until it says false.
template <typename Visit>
void each_of(const abi::Map* map, Slice slice, Visit visit) {
  uint32_t used = abi::map_used(agent::place(), map);
  uint64_t left = steps_for_all(map);
  for (uint32_t i = 0; i < used; ++i) {
    uint64_t keys[abi::kMaxKeys] = {}, state;
    if (!read_node(map, i, keys, &state, &left) || !slice.holds(keys)) continue;
    if (!visit(i, keys)) return;
  }
}

}  // namespace dj::agent
