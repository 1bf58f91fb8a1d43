// hot: Arrays, what is inlined into handlers: reading, and changing elements that exist.
#include "runtime/agent/map_find.h"
#include "runtime/agent/stat_add.h"

using namespace dj;
using agent::Found;

namespace {

// Numbers of ast::BinOp.
enum Op : uint32_t { kAdd, kSub, kMul, kDiv, kMod, kShl, kShr, kUShr, kAnd, kOr, kXor };

inline uint64_t apply(uint32_t op, uint64_t a, uint64_t b) {
  auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  switch (op) {
    case kAdd:
      return a + b;
    case kSub:
      return a - b;
    case kMul:
      return a * b;
    case kDiv:
      return y == -1 || y == 0 ? 0 - a : static_cast<uint64_t>(x / y);
    case kMod:
      return y == -1 || y == 0 ? 0 : static_cast<uint64_t>(x % y);
    case kShl:
      return a << (b & 63);
    case kShr:
      return static_cast<uint64_t>(x >> (b & 63));
    case kUShr:
      return a >> (b & 63);
    case kAnd:
      return a & b;
    case kOr:
      return a | b;
    case kXor:
      return a ^ b;
    default:
      return b;  // assignment
  }
}
constexpr uint32_t kAssign = ~0u;

// element = element op operand, from 0 when absent. Returns the new value.
inline uint64_t change(abi::Map* map, const uint64_t* keys, uint32_t op, uint64_t operand,
                       uint64_t* old) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    Found found = agent::map_find(map, keys, hash);
    if (found.given_up) break;
    if (found.node == nullptr) {
      *old = 0;
      uint64_t value = apply(op, 0, operand);
      if (dj_map_insert(map, keys, hash, value)) return value;
      continue;
    }
    abi::Pair seen = {abi::load(&found.node->pair.first), found.state};
    while (seen.second == found.state) {  // each turn: somebody else changed the value
      abi::Pair changed = {apply(op, seen.first, operand), found.state};
      *old = seen.first;
      if (abi::cas_pair(&found.node->pair, &seen, changed)) return changed.first;
    }
  }
  *old = 0;
  return apply(op, 0, operand);
}

}  // namespace

int64_t dj_map_get(abi::Map* map, const uint64_t* keys) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
  for (uint32_t tries = 0; tries < agent::kMapTries; ++tries) {
    Found found = agent::map_find(map, keys, hash);
    if (found.node == nullptr) return 0;
    uint64_t value = abi::load(&found.node->pair.first);
    if (abi::load(&found.node->pair.second) == found.state) return static_cast<int64_t>(value);
  }
  return 0;
}

int64_t dj_map_has(abi::Map* map, const uint64_t* keys) {
  return agent::map_find(map, keys, agent::hash_keys(keys, map->key_count)).node != nullptr;
}

void dj_map_set(abi::Map* map, const uint64_t* keys, int64_t value) {
  uint64_t old;
  change(map, keys, kAssign, static_cast<uint64_t>(value), &old);
}

int64_t dj_map_update(abi::Map* map, const uint64_t* keys, uint32_t op, int64_t operand,
                      int64_t* old) {
  uint64_t before;
  uint64_t after = change(map, keys, op, static_cast<uint64_t>(operand), &before);
  *old = static_cast<int64_t>(before);
  return static_cast<int64_t>(after);
}

void dj_map_stat_add(abi::Map* map, const uint64_t* keys, int64_t sample) {
  uint32_t hash = agent::hash_keys(keys, map->key_count);
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
