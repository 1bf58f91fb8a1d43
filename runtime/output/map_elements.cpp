// SPDX-License-Identifier: Apache-2.0
// A node counts if it is alive and its chain leads to it: one that a killed process was about to
// insert is filled, and in no chain.
#include "runtime/output/map_elements.h"

namespace dj {
namespace {

class Chains {
 public:
  Chains(const ArenaView& arena, uint64_t data, const abi::MapForm& form)
      : arena_(arena), capacity_(form.capacity), linked_(form.capacity) {
    heads_ = data + sizeof(abi::MapWords);
    nodes_ = heads_ + 8ull * abi::map_buckets(capacity_);
    node_bytes_ = abi::map_node_bytes(form.key_count, form.shape ? form.shape->bytes : 8);
    steps_left_ = kStepsPerNode * (uint64_t{capacity_} + kStepsPerNode);
  }
  uint64_t node(uint32_t index) const { return nodes_ + uint64_t{index} * node_bytes_; }

  // Whether the node's chain leads to it. A chain is walked once for all of its nodes.
  bool leads_to(uint32_t index) {
    if (!linked_[index]) walk(index);
    return linked_[index];
  }

 private:
  // Honest chains are walked once each, and once more for each node that is in none.
  static constexpr uint64_t kStepsPerNode = 8;

  void walk(uint32_t index) {
    const uint32_t bucket =
        arena_.word<uint32_t>(node(index) + offsetof(abi::MapNode, hash)).number() &
        (abi::map_buckets(capacity_) - 1);
    uint64_t link_at = heads_ + 8ull * bucket;
    for (uint32_t steps = 0; steps < capacity_ && steps_left_ > 0; ++steps, --steps_left_) {
      const uint64_t link = arena_.word(link_at).number() & abi::kLinkIndexMask;
      const std::optional<uint64_t> next = Untrusted(link - 1).below(capacity_);
      if (!next) return;
      const auto found = static_cast<uint32_t>(*next);
      linked_[found] = true;
      link_at = node(found) + offsetof(abi::MapNode, link);
    }
  }

  const ArenaView& arena_;
  uint32_t capacity_, node_bytes_;
  uint64_t heads_, nodes_, steps_left_;
  std::vector<bool> linked_;
};

// What CPUs have added to the element in rows of their own.
uint64_t sum_of_rows(const ArenaView& arena, uint64_t data, const abi::MapForm& form,
                     uint32_t index) {
  uint64_t sum = 0, at = data + abi::map_rows_at(form) + 8ull * index;
  const uint32_t shift = abi::map_row_shift(form.capacity);
  for (uint32_t row = 0; row < form.rows; ++row)
    sum += arena.word(at + (uint64_t{row} << shift)).number();
  return sum;
}

}  // namespace

uint32_t used_nodes(const ArenaView& arena, uint64_t data, const abi::MapForm& form) {
  const Untrusted<uint64_t> fresh = arena.word(data + offsetof(abi::MapWords, fresh));
  return static_cast<uint32_t>(fresh.at_most(form.capacity));
}

void each_element(const ArenaView& arena, uint64_t data, const abi::MapForm& form,
                  const std::function<void(const MapElement&)>& visit) {
  Chains chains(arena, data, form);
  MapElement element;
  element.keys.assign(form.key_count, Untrusted<uint64_t>(0));
  const uint32_t used = used_nodes(arena, data, form);
  for (uint32_t i = 0; i < used; ++i) {
    const uint64_t node = chains.node(i);
    constexpr uint64_t kState = offsetof(abi::MapNode, pair) + offsetof(abi::Pair, second);
    if ((arena.word(node + kState).number() & abi::kNodeAlive) == 0 || !chains.leads_to(i))
      continue;
    const uint64_t keys = node + offsetof(abi::MapNode, keys);
    for (uint32_t key = 0; key < form.key_count; ++key)
      element.keys[key] = arena.word(keys + 8ull * key);
    if (form.shape != nullptr) {
      element.stat = keys + 8ull * form.key_count;
    } else {
      element.value = arena.word(node + offsetof(abi::MapNode, pair));
      if (form.rows != 0)
        element.value = Untrusted(element.value.number() + sum_of_rows(arena, data, form, i));
    }
    visit(element);
  }
}

}  // namespace dj
