// SPDX-License-Identifier: Apache-2.0
// Reads the elements of an array from the arena, with the array's form from djtap's own Layout.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/process/untrusted.h"
#include "runtime/shared/map.h"

namespace dj {

// One element, copied.
struct MapElement {
  std::vector<Untrusted<uint64_t>> keys;
  Untrusted<uint64_t> value{0};  // sum of all rows; of an array of statistics unused
  uint64_t stat = 0;             // address of its Stat; 0: elements are words
};

// Calls visit for each element of the array whose data (GlobalSlot::data) lie at `data`, in the
// order of its nodes, with an element that lives until visit returns. Those that handlers add or
// take out meanwhile may or may not be seen. The work is proportional to the form's capacity,
// whatever the arena holds.
void each_element(const ArenaView& arena, uint64_t data, const abi::MapForm& form,
                  const std::function<void(const MapElement&)>& visit);

// How many nodes of the array have ever been used; at most its capacity.
uint32_t used_nodes(const ArenaView& arena, uint64_t data, const abi::MapForm& form);

}  // namespace dj
