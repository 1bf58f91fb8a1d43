// SPDX-License-Identifier: Apache-2.0
// each_element() reads the elements of an array from the arena. It takes the array's form from
// djtap's own Layout.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/process/untrusted.h"
#include "runtime/shared/map.h"

namespace dj {

// MapElement is a copy of one element.
struct MapElement {
  std::vector<Untrusted<uint64_t>> keys;
  Untrusted<uint64_t> value{0};  // sum of all rows; unused for an array of statistics
  uint64_t stat = 0;             // address of its Stat; 0: elements are words
};

// Calls visit for each element of the array whose data (GlobalSlot::data) lie at `data`, in the
// order of its nodes, with an element that lives until visit returns. It may miss elements that
// handlers add or take out meanwhile. The work is proportional to the form's capacity, whatever the
// arena holds.
void each_element(const ArenaView& arena, uint64_t data, const abi::MapForm& form,
                  const std::function<void(const MapElement&)>& visit);

// Returns how many nodes of the array handlers have ever used; at most its capacity.
uint32_t used_nodes(const ArenaView& arena, uint64_t data, const abi::MapForm& form);

}  // namespace dj
