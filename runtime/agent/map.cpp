// SPDX-License-Identifier: Apache-2.0
// hot: Arrays, what is inlined into handlers: reading, and changing elements that exist. Where no
// element is ever deleted (Map::grows), finding one is all it takes.
#include "runtime/agent/map_find.h"
#include "runtime/agent/map_op.h"
#include "runtime/agent/stat_add.h"

using namespace dj;
using agent::Found;

namespace {

// The common case: the element is the first of its chain, and nobody changes anything meanwhile.
// False: nothing was done.
inline bool change_first(const abi::Map* map, const uint64_t* keys, uint32_t hash, uint32_t op,
                         uint64_t operand, uint64_t* old) {
  uint64_t* head = abi::map_head(agent::place(), map, hash);
  uint64_t link = abi::load(head);
  uint32_t index = agent::link_index(link);
  if (__builtin_expect(index - 1 >= map->capacity, 0)) return false;
  abi::MapNode* node = abi::map_node(agent::place(), map, index - 1);
  abi::Pair seen = {abi::load(&node->pair.first), abi::load(&node->pair.second)};
  bool same = agent::same_keys(node->keys, keys, map->key_count) && agent::is_alive(seen.second) &&
              abi::load(head) == link;
  if (__builtin_expect(!same, 0)) return false;
  *old = seen.first;
  abi::Pair changed = {agent::apply(op, seen.first, operand), seen.second};
  return abi::cas_pair(&node->pair, &seen, changed);
}

constexpr uint32_t kNear = 16;  // elements of a chain that handlers look at themselves
constexpr uint32_t kFar = ~0u;  // no element's index plus 1: handlers have not seen all of the chain

// Reads the word of an element that is the first of its chain, or that nothing is there. False: it
// is further on, or somebody changes the chain. The head's link was the same before and behind, so
// the node was in the chain meanwhile; one that died there keeps its last value until it is
// unlinked.
inline bool read_first(const abi::Map* map, const uint64_t* keys, uint32_t hash, uint64_t* value) {
  const uint64_t* head = abi::map_head(agent::place(), map, hash);
  uint64_t link = abi::load(head);
  uint32_t index = agent::link_index(link);
  if (__builtin_expect(index - 1 >= map->capacity, 0)) return *value = 0, index == 0;
  const abi::MapNode* node = abi::map_node(agent::place(), map, index - 1);
  bool alive = agent::same_keys(node->keys, keys, map->key_count) &&
               agent::is_alive(abi::load(&node->pair.second));
  *value = abi::load(&node->pair.first);
  return alive && abi::load(head) == link;
}

// Index of an element of an array that grows, plus 1: it stays where it is, and whoever has found
// it need not look back. 0: there is none; kFar: it may be further on.
inline uint32_t find_growing(const abi::Map* map, const uint64_t* keys, uint32_t hash) {
  uint32_t index = agent::link_index(abi::load(abi::map_head(agent::place(), map, hash)));
#pragma GCC unroll 1
  for (uint32_t steps = 0; steps < kNear; ++steps) {
    if (__builtin_expect(index - 1 >= map->capacity, 0)) return index == 0 ? 0 : kFar;
    const abi::MapNode* node = abi::map_node(agent::place(), map, index - 1);
    if (agent::same_keys(node->keys, keys, map->key_count)) return index;
    index = agent::link_index(abi::load(&node->link));
  }
  return kFar;
}
inline bool is_found(uint32_t index) { return __builtin_expect(index - 1 < kFar - 1, 1); }

// Adds to an element's word of this CPU's row. False: nothing was done.
inline bool add_to_row(const abi::Map* map, const uint64_t* keys, uint32_t hash, int64_t n) {
  if (!dj_has_rseq) return false;
  uint32_t index = find_growing(map, keys, hash);
  return is_found(index) &&
         agent::rseq_add(reinterpret_cast<uint64_t>(abi::map_sum(agent::place(), map, index - 1)),
                         map->row_shift, n);
}

inline uint64_t change(const abi::Map* map, const uint64_t* keys, uint32_t op, uint64_t operand,
                       uint64_t* old) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  if (map->rows.is_set()) {  // nobody asks for the value
    auto n = static_cast<int64_t>(op == agent::kSub ? 0 - operand : operand);
    if (!__builtin_expect(add_to_row(map, keys, hash, n), 1))
      dj_map_change(map, keys, hash, op, operand, old);
    return *old = 0;
  }
  if (__builtin_expect(change_first(map, keys, hash, op, operand, old), 1))
    return agent::apply(op, *old, operand);
  uint64_t before;
  uint64_t after = dj_map_change(map, keys, hash, op, operand, &before);
  *old = before;
  return after;
}

}  // namespace

int64_t dj_map_get(const abi::Map* map, const uint64_t* keys) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  uint64_t value;
  if (map->grows != 0) {
    uint32_t index = find_growing(map, keys, hash);
    if (is_found(index))
      return static_cast<int64_t>(
          abi::map_value(agent::place(), map, abi::map_node(agent::place(), map, index - 1)));
    if (index == 0) return 0;
  } else if (__builtin_expect(read_first(map, keys, hash, &value), 1)) {
    return static_cast<int64_t>(value);
  }
  return dj_map_look(map, keys, hash);
}

int64_t dj_map_has(const abi::Map* map, const uint64_t* keys) {
  return agent::map_find(map, keys, agent::hash_keys(keys, map->key_count)).node != nullptr;
}

// The element of an array that grows is there for good, so its word is set as a scalar's is. In
// others the store could land in a later element that got the same node.
void dj_map_set(const abi::Map* map, const uint64_t* keys, int64_t value) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  auto word = static_cast<uint64_t>(value);
  uint64_t old;
  if (map->grows != 0) {
    uint32_t index = find_growing(map, keys, hash);
    if (is_found(index))
      return abi::store(&abi::map_node(agent::place(), map, index - 1)->pair.first, word);
  } else if (__builtin_expect(change_first(map, keys, hash, agent::kAssign, word, &old), 1)) {
    return;
  }
  dj_map_change(map, keys, hash, agent::kAssign, word, &old);
}

int64_t dj_map_update(const abi::Map* map, const uint64_t* keys, uint32_t op, int64_t operand,
                      int64_t* old) {
  uint64_t before;
  uint64_t after = change(map, keys, op, static_cast<uint64_t>(operand), &before);
  *old = static_cast<int64_t>(before);
  return static_cast<int64_t>(after);
}

void dj_map_stat_add(const abi::Map* map, const uint64_t* keys, int64_t sample) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  uint32_t index = map->grows ? find_growing(map, keys, hash) : kFar;
  if (!is_found(index)) return dj_map_add_sample(map, keys, hash, sample);
  agent::stat_add(abi::map_node_stat(map, abi::map_node(agent::place(), map, index - 1)),
                  map->shape, sample);
}
