// SPDX-License-Identifier: Apache-2.0
// Slices of arrays: a[*, k] in `in`, delete, the extractors and histograms. One walk over all
// elements.
#include "runtime/agent/event_record.h"
#include "runtime/agent/map_walk.h"
#include "runtime/agent/stat_derived.h"
#include "runtime/shared/entries.h"
#include "runtime/shared/stat.h"

using namespace dj;
using agent::each_of;

int64_t dj_slice_has(const abi::Map* map, const uint64_t* keys, uint32_t given) {
  int64_t found = 0;
  each_of(map, {keys, given}, [&](uint32_t, const uint64_t*) {
    found = 1;
    return false;
  });
  return found;
}

void dj_slice_delete(const abi::Map* map, const uint64_t* keys, uint32_t given) {
  each_of(map, {keys, given}, [&](uint32_t, const uint64_t* element) {
    dj_map_delete(map, element);
    return true;
  });
}

int64_t dj_slice_stat_read(const abi::Map* map, const uint64_t* keys, uint32_t given, uint32_t op,
                           uint32_t* empty) {
  auto each = [&](auto visit) {
    each_of(map, {keys, given}, [&](uint32_t index, const uint64_t*) {
      visit(abi::map_node_stat(map, abi::map_node(agent::place(), map, index)));
      return true;
    });
  };
  return agent::stat_derived(each, map->shape, op, empty);
}

void dj_slice_event_hist(uint32_t site, const abi::Map* map, const uint64_t* keys, uint32_t given,
                         uint32_t form) {
  const abi::StatShape& shape = map->shape;
  const uint32_t words = abi::hist_count(shape, form);
  agent::Record record;
  if (!record.open_sent(sizeof(abi::HistPayload) + 8ull * words, abi::kEventHist, site)) return;
  record.head().format = form;
  auto* payload = reinterpret_cast<abi::HistPayload*>(record.payload());
  payload->shape = shape;
  payload->words = words;
  auto* sums = reinterpret_cast<uint64_t*>(payload + 1);
  for (uint32_t i = 0; i < words; ++i) sums[i] = 0;
  each_of(map, {keys, given}, [&](uint32_t index, const uint64_t*) {
    const abi::Stat* part = abi::map_node_stat(map, abi::map_node(agent::place(), map, index));
    const int64_t* counts = abi::hist_words(part, shape, form);
    for (uint32_t i = 0; i < words; ++i) sums[i] += static_cast<uint64_t>(counts[i]);
    return true;
  });
  record.commit();
}

int64_t dj_slice_bucket(const abi::Map* map, const uint64_t* keys, uint32_t given, uint32_t linear,
                        int64_t bucket, uint32_t* bad) {
  int64_t sum = 0;
  *bad = bucket < 0 || bucket >= (linear ? int64_t{map->shape.linear_count} : abi::kLogShown);
  each_of(map, {keys, given}, [&](uint32_t index, const uint64_t*) {
    const abi::Stat* part = abi::map_node_stat(map, abi::map_node(agent::place(), map, index));
    uint32_t unused;
    if (!*bad) sum += dj_stat_bucket(part, 0, &map->shape, linear, bucket, &unused);
    return !*bad;
  });
  return sum;
}
