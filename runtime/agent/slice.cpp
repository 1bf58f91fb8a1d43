// Slices of arrays: a[*, k] in `in`, delete and the extractors. One walk over all elements.
#include "runtime/agent/map_walk.h"
#include "runtime/agent/stat_derived.h"
#include "runtime/shared/entries.h"

using namespace dj;

namespace {

// Calls visit(index, keys) for every element of the slice until it says false.
template <typename Visit>
void each_of(abi::Map* map, agent::Slice slice, Visit visit) {
  uint32_t used = abi::map_used(map);
  for (uint32_t i = 0; i < used; ++i) {
    uint64_t keys[abi::kMaxKeys] = {}, state;
    if (!agent::read_node(map, i, keys, &state) || !slice.holds(keys)) continue;
    if (!visit(i, keys)) return;
  }
}

}  // namespace

int64_t dj_slice_has(abi::Map* map, const uint64_t* keys, uint32_t given) {
  int64_t found = 0;
  each_of(map, {keys, given}, [&](uint32_t, const uint64_t*) {
    found = 1;
    return false;
  });
  return found;
}

void dj_slice_delete(abi::Map* map, const uint64_t* keys, uint32_t given) {
  each_of(map, {keys, given}, [&](uint32_t, const uint64_t* element) {
    dj_map_delete(map, element);
    return true;
  });
}

int64_t dj_slice_stat_read(abi::Map* map, const uint64_t* keys, uint32_t given, uint32_t op,
                           uint32_t* empty) {
  auto each = [&](auto visit) {
    each_of(map, {keys, given}, [&](uint32_t index, const uint64_t*) {
      visit(abi::map_node_stat(map, abi::map_node(map, index)));
      return true;
    });
  };
  return agent::stat_derived(each, map->shape, op, empty);
}
