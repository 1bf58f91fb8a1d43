// SPDX-License-Identifier: Apache-2.0
// Arrays, what handlers call: inserting, deleting, and the nodes' way between chain and free list.
#include "runtime/agent/map_op.h"
#include "runtime/agent/map_walk.h"
#include "runtime/agent/stat_add.h"

using namespace dj;
using agent::Found;

namespace {

// Index of a node that nobody else has, plus 1; 0: the array is full.
uint32_t take_node(const abi::Map* map) {
  abi::MapWords* words = abi::map_words(agent::place(), map);
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    uint64_t head = abi::load(&words->free_nodes);
    uint32_t index = agent::link_index(head);
    if (index != 0 && index <= map->capacity) {
      uint32_t next = abi::load(&abi::map_node(agent::place(), map, index - 1)->next_free);
      if (abi::cas(&words->free_nodes, head, agent::next_link(head, next))) return index;
      continue;
    }
    uint64_t fresh = abi::load(&words->fresh);
    if (fresh >= map->capacity) return 0;
    if (abi::cas(&words->fresh, fresh, fresh + 1)) return static_cast<uint32_t>(fresh) + 1;
  }
  return 0;
}

// The walk to come fails until the node's link says where its chain goes on.
void fill_node(const abi::Map* map, abi::MapNode* node, const uint64_t* keys, uint32_t hash,
               uint64_t value) {
  abi::store(&node->hash, hash);
  // Of an array that only grows the nodes' order is the elements'.
  if (map->grows == 0)
    abi::store(&node->next_free,
               static_cast<uint32_t>(abi::add(&abi::map_words(agent::place(), map)->inserted, 1)));
  for (uint32_t i = 0; i < map->key_count; ++i) node->keys[i] = keys[i];
  if (map->shape.bytes != 0) {
    abi::Stat* stat = abi::map_node_stat(map, node);
    auto* words = reinterpret_cast<uint64_t*>(stat);
    for (uint32_t i = 0; i < map->shape.bytes / 8; ++i) words[i] = 0;
    agent::stat_add(stat, map->shape, static_cast<int64_t>(value));
  }
  abi::store(&node->pair.first, value);
  uint64_t incarnation =
      (abi::load(&node->pair.second) & ~(abi::kNodeIncarnation - 1)) + abi::kNodeIncarnation;
  abi::store(&node->pair.second, incarnation | abi::kNodeAlive);
}

// Ends the element. False: somebody else did.
bool end_element(abi::MapNode* node, uint64_t state) {
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    uint64_t seen = abi::load(&node->pair.second);
    if (!agent::same_element(seen, state)) return false;
    if (abi::cas(&node->pair.second, seen, seen & ~abi::kNodeAlive)) return true;
  }
  return false;
}

// A wrapping array is full. Nodes are taken in their order, so the one after the last that was
// given up holds the oldest element; one that took a deleted element's node goes when that would
// have.
void give_up_oldest(const abi::Map* map) {
  auto index = static_cast<uint32_t>(abi::add(&abi::map_words(agent::place(), map)->oldest, 1) %
                                     map->capacity);
  uint64_t keys[abi::kMaxKeys], state, left = agent::kMapSteps;
  if (!agent::read_node(map, index, keys, &state, &left)) return;
  if (!end_element(abi::map_node(agent::place(), map, index), state)) return;
  agent::map_find(map, keys, agent::hash_keys(keys, map->key_count));  // unlinks it
}

}  // namespace

DJ_COLD_CALL void dj_map_release(const abi::Map* map, abi::MapNode* node) {
  abi::MapWords* words = abi::map_words(agent::place(), map);
  uint64_t offset = reinterpret_cast<uint64_t>(node) -
                    reinterpret_cast<uint64_t>(abi::map_node(agent::place(), map, 0));
  uint32_t index = static_cast<uint32_t>(offset / map->node_bytes) + 1;
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    uint64_t head = abi::load(&words->free_nodes);
    abi::store(&node->next_free, agent::link_index(head));
    if (abi::cas(&words->free_nodes, head, agent::next_link(head, index))) return;
  }
}

DJ_COLD_CALL uint64_t dj_map_unlink(const abi::Map* map, uint64_t* prev, uint64_t link,
                                    abi::MapNode* node) {
  uint64_t next = abi::load(&node->link);
  if ((next & abi::kLinkMark) == 0) {
    uint64_t marked = agent::next_link(next, agent::link_index(next)) | abi::kLinkMark;
    // The caller saw the node dead; that it is still the one `link` led to is what the swing of
    // *prev proves.
    if (abi::load(prev) != link || agent::is_alive(abi::load(&node->pair.second))) return 0;
    if (!abi::cas(&node->link, next, marked)) return 0;
    next = marked;
  }
  uint64_t past = agent::next_link(link, agent::link_index(next));
  if (!abi::cas(prev, link, past)) return 0;
  uint64_t state = __atomic_fetch_or(&node->pair.second, abi::kNodeUnlinked, __ATOMIC_SEQ_CST);
  if ((state & abi::kNodeUsers) == 0) dj_map_release(map, node);
  return past;
}

DJ_COLD_CALL bool dj_map_insert(const abi::Map* map, const uint64_t* keys, uint32_t hash,
                                uint64_t value) {
  uint32_t index = take_node(map);
  for (uint32_t tries = 0; index == 0 && map->wrap && tries < map->capacity; ++tries) {
    give_up_oldest(map);
    index = take_node(map);
  }
  if (index == 0) {
    agent::count_skip(abi::kSkipMapFull);
    return true;
  }
  abi::MapNode* node = abi::map_node(agent::place(), map, index - 1);
  fill_node(map, node, keys, hash, value);
  uint64_t* head = abi::map_head(agent::place(), map, hash);
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    Found found = agent::map_find(map, keys, hash);
    if (found.node != nullptr || found.given_up) {
      end_element(node, abi::load(&node->pair.second));
      dj_map_release(map, node);
      return found.given_up;
    }
    abi::store(&node->link,
               agent::next_link(abi::load(&node->link), agent::link_index(found.first)));
    if (abi::cas(head, found.first, agent::next_link(found.first, index))) return true;
  }
  agent::count_skip(abi::kSkipMapBusy);
  return true;
}

DJ_COLD_CALL int64_t dj_map_look(const abi::Map* map, const uint64_t* keys, uint32_t hash) {
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    Found found = agent::map_find(map, keys, hash);
    if (found.node == nullptr) return 0;
    uint64_t value = abi::map_value(agent::place(), map, found.node);
    if (abi::load(&found.node->pair.second) == found.state) return static_cast<int64_t>(value);
  }
  return 0;
}

DJ_COLD_CALL uint64_t dj_map_change(const abi::Map* map, const uint64_t* keys, uint32_t hash,
                                    uint32_t op, uint64_t operand, uint64_t* old) {
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    Found found = agent::map_find(map, keys, hash);
    if (found.given_up) break;
    if (found.node == nullptr) {
      *old = 0;
      uint64_t value = agent::apply(op, 0, operand);
      if (dj_map_insert(map, keys, hash, value)) return value;
      continue;
    }
    abi::Pair seen = {abi::load(&found.node->pair.first), found.state};
    while (seen.second == found.state) {  // each turn: somebody else changed the value
      abi::Pair changed = {agent::apply(op, seen.first, operand), found.state};
      *old = seen.first;
      if (abi::cas_pair(&found.node->pair, &seen, changed)) return changed.first;
    }
  }
  *old = 0;
  return agent::apply(op, 0, operand);
}

DJ_COLD_CALL void dj_map_add_sample(const abi::Map* map, const uint64_t* keys, uint32_t hash,
                                    int64_t sample) {
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    Found found = agent::map_find(map, keys, hash);
    if (found.given_up) return;
    if (found.node == nullptr) {
      if (dj_map_insert(map, keys, hash, static_cast<uint64_t>(sample))) return;
      continue;
    }
    if (!agent::map_pin(found.node, found.state)) continue;
    agent::stat_add(abi::map_node_stat(map, found.node), map->shape, sample);
    agent::map_unpin(map, found.node);
    return;
  }
}

void dj_map_delete(const abi::Map* map, const uint64_t* keys) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  Found found = agent::map_find(map, keys, hash);
  if (found.node == nullptr || !end_element(found.node, found.state)) return;
  agent::map_find(map, keys, hash);  // meets the dead node and unlinks it
}

void dj_map_clear(const abi::Map* map) {
  uint32_t used = abi::map_used(agent::place(), map);
  for (uint32_t i = 0; i < used; ++i) {
    abi::MapNode* node = abi::map_node(agent::place(), map, i);
    if (!agent::is_alive(abi::load(&node->pair.second))) continue;
    uint64_t keys[abi::kMaxKeys];
    for (uint32_t k = 0; k < map->key_count && k < abi::kMaxKeys; ++k) keys[k] = node->keys[k];
    dj_map_delete(map, keys);
  }
}

int64_t dj_map_stat_read(const abi::Map* map, const uint64_t* keys, uint32_t op, uint32_t* empty) {
  abi::StatTotal total;
  const abi::Stat* stat = dj_map_stat_at(map, keys);
  if (stat != nullptr) total.add(*stat);
  *empty = total.count == 0;
  return total.get(op);
}

const abi::Stat* dj_map_stat_at(const abi::Map* map, const uint64_t* keys) {
  Found found = agent::map_find(map, keys, agent::hash_keys(keys, map->key_count));
  return found.node == nullptr ? nullptr : abi::map_node_stat(map, found.node);
}
