// SPDX-License-Identifier: Apache-2.0
// foreach: a snapshot of an array's elements in scratch memory, sorted, else in the order in which
// they came into the array; what is gone when its turn comes is passed over.
#include "runtime/agent/map_walk.h"
#include "runtime/agent/scratch.h"
#include "runtime/agent/stat_derived.h"
#include "runtime/shared/soft_double.h"
#include "runtime/shared/stat.h"

using namespace dj;

namespace {

struct Element {
  int64_t sort;
  uint64_t state;
  uint32_t node, text;  // text: `sort` is the address of a Str
};
static_assert(sizeof(Element) == 24);

// Iterators lie at the end of the scratch memory, the innermost lowest. Handlers put
// Context::iterators back when they leave a loop.
struct Iterator {
  abi::Context* ctx;
  const abi::Map* map;
  uint32_t outer;  // Context::iterators before
  uint32_t count, next, pad;
  Element elements[1];
};

bool comes_before(const Element& a, const Element& b, bool descending) {
  int64_t order;
  if (a.text) {
    order = dj_str_compare(reinterpret_cast<const abi::Str*>(a.sort),
                           reinterpret_cast<const abi::Str*>(b.sort));
  } else {
    order = a.sort < b.sort ? -1 : a.sort > b.sort;
  }
  return descending ? order > 0 : order < 0;
}

void sift_down(Element* elements, uint32_t root, uint32_t count, bool descending) {
  for (uint32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && comes_before(elements[child], elements[child + 1], descending))
      ++child;
    if (!comes_before(elements[root], elements[child], descending)) return;
    Element moved = elements[root];
    elements[root] = elements[child];
    elements[child] = moved;
    root = child;
  }
}

// Heap sort: no memory, no bad case.
void sort_elements(Element* elements, uint32_t count, bool descending) {
  for (uint32_t i = count / 2; i > 0; --i) sift_down(elements, i - 1, count, descending);
  for (uint32_t end = count; end > 1; --end) {
    Element last = elements[0];
    elements[0] = elements[end - 1];
    elements[end - 1] = last;
    sift_down(elements, 0, end - 1, descending);
  }
}

// Whether nodes of deleted elements hold others, so that the nodes' order is not the elements'.
bool was_reused(const abi::Map* map) {
  return map->grows == 0 && abi::load(&abi::map_words(agent::place(), map)->inserted) >
                                abi::map_used(agent::place(), map);
}

void take_snapshot(Iterator* made, const abi::SortOrder& order, uint32_t room, agent::Slice slice) {
  uint32_t sort = order.by & ~(abi::kSortText | abi::kSortDouble);
  uint32_t text = (order.by & abi::kSortText) != 0;
  bool is_double = (order.by & abi::kSortDouble) != 0;
  const abi::Map* map = made->map;
  uint32_t used = abi::map_used(agent::place(), map);
  uint64_t left = agent::steps_for_all(map);
  uint64_t keys[abi::kMaxKeys];
  for (uint32_t i = 0; i < used && made->count < room; ++i) {
    Element element = {};
    if (!agent::read_node(map, i, keys, &element.state, &left) || !slice.holds(keys)) continue;
    element.node = i;
    if (sort == abi::kSortNone) {
      element.sort =
          -int64_t{abi::map_age(agent::place(), map, abi::map_node(agent::place(), map, i))};
    } else if (sort == abi::kSortKey && order.argument < map->key_count) {
      element.sort = static_cast<int64_t>(keys[order.argument]);
    } else if (sort == abi::kSortValue) {
      element.sort = static_cast<int64_t>(
          abi::map_value(agent::place(), map, abi::map_node(agent::place(), map, i)));
    } else if (sort == abi::kSortStat && map->shape.bytes != 0) {
      abi::Stat* stat = abi::map_node_stat(map, abi::map_node(agent::place(), map, i));
      uint32_t empty;
      element.sort =
          agent::stat_derived([&](auto visit) { visit(stat); }, map->shape, order.argument, &empty);
    }
    if (is_double) element.sort = abi::double_order(static_cast<uint64_t>(element.sort));
    if (text) {
      const auto ref = static_cast<abi::StrWord>(element.sort);
      element.sort = reinterpret_cast<int64_t>(abi::str_at(agent::arena(), ref));
    }
    element.text = text;
    made->elements[made->count++] = element;
  }
}

}  // namespace

void* dj_foreach_begin(abi::Context* ctx, const abi::Map* map, const abi::SortOrder* order,
                       int64_t limit, const uint64_t* keys, uint32_t given) {
  uint32_t room = abi::map_used(agent::place(), map);
  uint64_t bytes = sizeof(Iterator) + uint64_t{room} * sizeof(Element);
  uint64_t strings =
      ctx->scratch_used + agent::round_word(sizeof(uint32_t) + agent::arena()->max_string);
  if (strings + bytes > ctx->iterators) {
    dj_raise(ctx, ctx->site, abi::kNoSpan, abi::kErrScratch, static_cast<int64_t>(bytes));
    return nullptr;
  }
  uint32_t outer = ctx->iterators;
  ctx->iterators = (outer - static_cast<uint32_t>(bytes)) & ~7u;
  auto* made = reinterpret_cast<Iterator*>(ctx->scratch + ctx->iterators);
  *made = {ctx, map, outer, 0, 0, 0, {}};
  take_snapshot(made, *order, room, {keys, given});
  if (order->by != abi::kSortNone || was_reused(map))
    sort_elements(made->elements, made->count, order->descending != 0);
  if (limit >= 0 && limit < made->count) made->count = static_cast<uint32_t>(limit);
  return made;
}

uint32_t dj_foreach_next(void* iterator, uint64_t* keys, int64_t* value) {
  auto* live = static_cast<Iterator*>(iterator);
  // Iterators below this one belong to loops inside its body that ended.
  live->ctx->iterators = static_cast<uint32_t>(static_cast<char*>(iterator) - live->ctx->scratch);
  while (live->next < live->count) {
    const Element& element = live->elements[live->next++];
    abi::MapNode* node = abi::map_node(agent::place(), live->map, element.node);
    for (uint32_t i = 0; i < live->map->key_count; ++i) keys[i] = node->keys[i];
    *value = static_cast<int64_t>(abi::map_value(agent::place(), live->map, node));
    if (agent::same_element(abi::load(&node->pair.second), element.state)) return 1;
  }
  live->ctx->iterators = live->outer;
  return 0;
}
