// SPDX-License-Identifier: Apache-2.0
// Map is one array of the script in the arena: a hash table of chains with a fixed number of nodes.
// It takes no locks; agent/map_find.h says how it stays exact. The Map itself is constant and says
// where its data lie: MapWords, bucket heads, nodes, and rows of sums. Every reader bounds a link
// or a count of the data by the Map's capacity.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/arena_ref.h"
#include "runtime/shared/atomic.h"

namespace dj::abi {

// Added to the number of an operator: it computes with doubles.
constexpr uint32_t kDoubleOp = 32;

// A link names a node and carries a tag that changes with every write of the word, so a
// compare-and-swap with an old link fails even where the same node came back.
constexpr uint32_t kLinkIndexBits = 24;
constexpr uint64_t kLinkIndexMask =
    (uint64_t{1} << kLinkIndexBits) - 1;  // index + 1; 0: end of chain
constexpr uint64_t kLinkMark = uint64_t{1}
                               << kLinkIndexBits;  // the node that holds this link is leaving
constexpr uint64_t kLinkTagOne = kLinkMark << 1;
constexpr uint32_t kMaxMapEntries = (1u << kLinkIndexBits) - 2;

// MapNode::state: incarnation in the upper half; below it how many are adding to the node's Stat
// right now.
constexpr uint64_t kNodeAlive = 1;     // holds an element of the array
constexpr uint64_t kNodeUnlinked = 2;  // out of its chain, free as soon as its Stat has no user
constexpr uint64_t kNodeUser = 4;      // one user
constexpr uint64_t kNodeIncarnation = uint64_t{1} << 32;
constexpr uint64_t kNodeUsers = kNodeIncarnation - kNodeUser;

struct MapNode {
  Pair pair;      // first: value (Int, Str); second: state
  uint64_t link;  // next node of the chain
  uint32_t hash;
  uint32_t next_free;  // index + 1 on the list of free nodes; of an element: see map_age
  uint64_t keys[1];    // really key_count, behind them the Stat of an array of statistics
};

// What handlers write of an array as a whole. Data.
struct MapWords {
  uint64_t free_nodes;  // tag in the upper half, index + 1 in the lower
  uint64_t fresh;       // nodes ever used: the first `fresh` ones
  uint64_t oldest;      // wrapping: the node to give up next, modulo capacity
  uint64_t inserted;    // nodes ever filled, modulo 2^32 the number that the next one gets
  uint64_t pad[4];
};
static_assert(sizeof(MapWords) == 64);

// Constants.
struct Map {
  uint32_t capacity, key_count;
  uint32_t node_bytes, bucket_mask;
  ArenaRef<MapWords> words;
  ArenaRef<uint64_t> heads;
  ArenaRef<MapNode> nodes;
  ArenaRef<uint64_t> rows;        // of sums; none: the array has no rows
  StatShape shape;                // shape.bytes 0: elements are words
  uint32_t wrap;                  // 1: a full array gives up an element for a new one
  uint32_t grows;                 // 1: no element is ever deleted
  uint32_t row_count, row_shift;  // a row has 1 << row_shift bytes
};

constexpr uint32_t map_buckets(uint32_t capacity) {
  uint32_t buckets = 8;
  while (buckets < capacity) buckets *= 2;
  return buckets;
}
// value_bytes: 8 for words, StatShape::bytes for statistics.
constexpr uint32_t map_node_bytes(uint32_t key_count, uint32_t value_bytes) {
  uint32_t stat = value_bytes > 8 ? value_bytes : 0;
  return (static_cast<uint32_t>(offsetof(MapNode, keys)) + 8 * key_count + stat + 15) / 16 * 16;
}
// What decides a Map's size and what is written to it before its first use.
struct MapForm {
  uint32_t capacity, key_count;
  const StatShape* shape = nullptr;  // of an array of statistics
  bool wrap = false;
  bool grows = false;
  // CPUs with a row of their own: what is added to element i on one of them is in word i of its
  // row, changed without a locked instruction. Only where the array grows, and words are only
  // added to; the value is the sum of the node's word and these.
  uint32_t rows = 0;
};
// Distances from the data's begin.
constexpr uint64_t map_nodes_end(const MapForm& form) {
  return sizeof(MapWords) + 8ull * map_buckets(form.capacity) +
         uint64_t{form.capacity} *
             map_node_bytes(form.key_count, form.shape ? form.shape->bytes : 8);
}
constexpr uint32_t map_row_shift(uint32_t capacity) {
  uint32_t shift = 7;
  while ((uint64_t{1} << shift) < 8ull * capacity) ++shift;
  return shift;
}
constexpr uint64_t map_rows_at(const MapForm& form) {
  return (map_nodes_end(form) + 127) / 128 * 128;
}
// Of the data.
constexpr uint64_t map_bytes(const MapForm& form) {
  if (form.rows == 0) return map_nodes_end(form);
  return map_rows_at(form) + (uint64_t{form.rows} << map_row_shift(form.capacity));
}

// `data`: offset of zero memory of map_bytes(form), 128-byte aligned.
inline void map_init(Map* map, const MapForm& form, uint64_t data) {
  const auto at = [data](uint64_t distance) { return static_cast<uint32_t>(data + distance); };
  map->capacity = form.capacity;
  map->key_count = form.key_count;
  map->node_bytes = map_node_bytes(form.key_count, form.shape ? form.shape->bytes : 8);
  map->bucket_mask = map_buckets(form.capacity) - 1;
  map->wrap = form.wrap;
  map->grows = form.grows;
  map->words = {at(0)};
  map->heads = {at(sizeof(MapWords))};
  map->nodes = {at(sizeof(MapWords) + 8ull * map_buckets(form.capacity))};
  if (form.shape) map->shape = *form.shape;
  if (form.rows == 0) return;
  map->rows = {at(map_rows_at(form))};
  map->row_count = form.rows;
  map->row_shift = map_row_shift(form.capacity);
}

inline MapWords* map_words(Arena arena, const Map* map) { return map->words.get(arena); }
// index: less than the capacity.
inline MapNode* map_node(Arena arena, const Map* map, uint32_t index) {
  const auto first = reinterpret_cast<uint64_t>(map->nodes.get(arena));
  return reinterpret_cast<MapNode*>(first + uint64_t{index} * map->node_bytes);
}
inline Stat* map_node_stat(const Map* map, MapNode* node) {
  return reinterpret_cast<Stat*>(node->keys + map->key_count);
}
// Word `index` of the first row of sums.
inline uint64_t* map_sum(Arena arena, const Map* map, uint32_t index) {
  return map->rows.get(arena) + index;
}
// The value of an element that is a word.
inline uint64_t map_value(Arena arena, const Map* map, const MapNode* node) {
  uint64_t value = load(&node->pair.first);
  if (!map->rows.is_set()) return value;
  const uint64_t distance =
      reinterpret_cast<uint64_t>(node) - reinterpret_cast<uint64_t>(map->nodes.get(arena));
  const uint64_t* sum = map_sum(arena, map, static_cast<uint32_t>(distance / map->node_bytes));
  for (uint32_t row = 0; row < map->row_count; ++row)
    value += load(sum + (uint64_t{row} << map->row_shift) / sizeof *sum);
  return value;
}
// How many elements of an array that does not only grow came after the one in this node, and it.
inline uint32_t map_age(Arena arena, const Map* map, const MapNode* node) {
  return static_cast<uint32_t>(load(&map_words(arena, map)->inserted)) - load(&node->next_free);
}
// Nodes that may hold an element: 0 .. map_used() - 1.
inline uint32_t map_used(Arena arena, const Map* map) {
  uint64_t fresh = load(&map_words(arena, map)->fresh);
  return fresh < map->capacity ? static_cast<uint32_t>(fresh) : map->capacity;
}

inline uint64_t* map_head(Arena arena, const Map* map, uint32_t hash) {
  return map->heads.get(arena) + (hash & map->bucket_mask);
}

}  // namespace dj::abi
