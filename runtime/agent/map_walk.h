// Walking over the elements of an array, and slices: those with some given keys.
#pragma once
#include "runtime/agent/map_find.h"

namespace dj::agent {

// Whether node `index` is an element now; fills keys, state.
inline bool read_node(abi::Map* map, uint32_t index, uint64_t* keys, uint64_t* state) {
  abi::MapNode* node = abi::map_node(map, index);
  if (!is_alive(abi::load(&node->pair.second))) return false;
  for (uint32_t i = 0; i < map->key_count; ++i) keys[i] = node->keys[i];
  // A node that is being filled is alive before it is part of the array.
  Found found = map_find(map, keys, hash_keys(keys, map->key_count));
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

}  // namespace dj::agent
