// SPDX-License-Identifier: Apache-2.0
// Snapshots: what stands in a global is taken out of it in one step.
#include "runtime/agent/map_walk.h"
#include "runtime/shared/entries.h"
#include "runtime/shared/stat.h"

using namespace dj;
using agent::Found;

namespace {

constexpr uint32_t kPatience = 1u << 22;  // some 10 ms for those who are adding to Stats

// Ends the element and gives the last value it had. False: it ended before.
bool take_word(abi::MapNode* node, uint64_t state, uint64_t* value) {
  abi::Pair seen = {abi::load(&node->pair.first), abi::load(&node->pair.second)};
  for (uint32_t tries = 0; tries < agent::kMapTries && agent::same_element(seen.second, state);
       ++tries) {
    *value = seen.first;
    if (abi::cas_pair(&node->pair, &seen, {seen.first, seen.second & ~abi::kNodeAlive}))
      return true;
  }
  return false;
}

// Ends an element to whose Stat nobody but this pinned user is adding. False: somebody still is
// after all patience, or it ended before.
bool end_unused(abi::MapNode* node, uint64_t state, uint32_t* patience) {
  for (; *patience > 0; --*patience) {
    uint64_t seen = abi::load(&node->pair.second);
    if (!agent::same_element(seen, state)) return false;
    if ((seen & abi::kNodeUsers) != abi::kNodeUser) continue;
    if (abi::cas(&node->pair.second, seen, seen & ~abi::kNodeAlive)) return true;
  }
  return false;
}

// The element's Stat becomes that of a new element of `to`. Where a thread was stopped in the
// middle of adding, the element stays for the next snapshot.
void move_stat(const abi::Map* from, abi::MapNode* node, uint64_t state, const uint64_t* keys,
               const abi::Map* to, uint32_t* patience) {
  if (!agent::map_pin(node, state)) return;
  uint32_t hash = agent::hash_keys(keys, from->key_count);
  if (end_unused(node, state, patience)) {
    agent::map_find(from, keys, hash);  // unlinks it
    dj_map_insert(to, keys, hash, 0);
    Found made = agent::map_find(to, keys, hash);
    auto* source = reinterpret_cast<uint64_t*>(abi::map_node_stat(from, node));
    for (uint32_t i = 0; made.node != nullptr && i < from->shape.bytes / 8; ++i) {
      auto* copy = reinterpret_cast<uint64_t*>(abi::map_node_stat(to, made.node));
      abi::store(&copy[i], abi::load(&source[i]));
    }
  }
  agent::map_unpin(from, node);
}

}  // namespace

// As dj_count_clear; two that take at once do not get the same counts.
int64_t dj_count_take(uint32_t counter) {
  const abi::Header* header = agent::arena();
  auto* last = reinterpret_cast<uint64_t*>(agent::counter_word(counter, header->cpus));
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    uint64_t before = abi::load(last);
    auto sum = static_cast<uint64_t>(dj_count_read(counter));
    // The last row may have grown between the two loads: then it is no longer `before`.
    if (abi::cas(last, before, before - sum)) return static_cast<int64_t>(sum);
  }
  return 0;
}

int64_t dj_map_take(const abi::Map* map, const uint64_t* keys) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  Found found = agent::map_find(map, keys, hash);
  uint64_t value = 0;
  if (found.node == nullptr || !take_word(found.node, found.state, &value)) return 0;
  agent::map_find(map, keys, hash);  // meets the dead node and unlinks it
  return static_cast<int64_t>(value);
}

void dj_map_move(const abi::Map* from, const abi::Map* to) {
  dj_map_clear(to);
  uint32_t used = abi::map_used(agent::place(), from);
  uint64_t left = agent::steps_for_all(from);
  uint32_t patience = kPatience;
  for (uint32_t i = 0; i < used; ++i) {
    uint64_t keys[abi::kMaxKeys] = {}, state = 0, value = 0;
    // What began anew while this loop ran is younger than the snapshot: it stays.
    if (!agent::read_node(from, i, keys, &state, &left) || dj_map_has(to, keys) != 0) continue;
    abi::MapNode* node = abi::map_node(agent::place(), from, i);
    if (from->shape.bytes != 0) {
      move_stat(from, node, state, keys, to, &patience);
    } else if (take_word(node, state, &value)) {
      agent::map_find(from, keys, agent::hash_keys(keys, from->key_count));
      dj_map_set(to, keys, static_cast<int64_t>(value));
    }
  }
}

void dj_stat_move(abi::Stat* from, abi::Stat* to, uint32_t stride, const abi::StatShape* shape) {
  for (uint32_t row = 0; row <= agent::arena()->cpus; ++row) {
    auto* source = reinterpret_cast<uint64_t*>(abi::stat_row(from, stride, row));
    auto* copy = reinterpret_cast<uint64_t*>(abi::stat_row(to, stride, row));
    for (uint32_t i = 0; i < shape->bytes / 8; ++i)
      copy[i] = __atomic_exchange_n(&source[i], 0, __ATOMIC_RELAXED);
  }
}
