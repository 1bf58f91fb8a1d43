// SPDX-License-Identifier: Apache-2.0
// The choose functions find addresses for the arena, code areas and stubs: pure searches over the
// mappings of processes.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"

namespace dj {

// Returns a page-aligned address below 2 GB where `bytes` bytes are free in both processes: as high
// as possible, so that a brk heap below keeps its room. heap_begin: of the target (the heap may not
// exist yet). Fails when there is none.
Result<uint64_t> choose_arena_base(const std::vector<Mapping>& target,
                                   const std::vector<Mapping>& self, uint64_t heap_begin,
                                   uint64_t bytes);

// Cluster: modules that one code area can serve: every byte of the code area and every byte of the
// modules are within 2 GB of each other.
struct Cluster {
  AddressRange span;            // from the lowest to the highest module byte
  std::vector<size_t> members;  // indexes into the given ranges
};
// Groups the modules. bytes: of a code area (each cluster gets one of that size at most).
std::vector<Cluster> make_clusters(const std::vector<AddressRange>& modules, uint64_t bytes);
// Returns a free address for a code area of this cluster, preferably below it (heaps grow upwards);
// 0: there is none. `taken`: ranges to keep clear besides the mappings.
uint64_t choose_area_base(const std::vector<Mapping>& target,
                          const std::vector<AddressRange>& taken, uint64_t heap_begin,
                          const Cluster& cluster, uint64_t bytes);

// AreaPlace: where a code area lies, and the span of the modules that it serves.
struct AreaPlace {
  AddressRange served;
  uint64_t base = 0;  // 0: there is no room within reach of them
};
// Chooses a place for each cluster of these modules. `taken`: as above; choose_areas() adds the
// code areas' own ranges.
std::vector<AreaPlace> choose_areas(const std::vector<Mapping>& target,
                                    std::vector<AddressRange>& taken, uint64_t heap_begin,
                                    const std::vector<AddressRange>& modules, uint64_t bytes);

// Returns what is free of the user address space, ascending, page-aligned. Room for stacks and a
// heap does not count as free.
std::vector<AddressRange> free_ranges(const std::vector<Mapping>& target,
                                      const std::vector<AddressRange>& taken, uint64_t heap_begin);

}  // namespace dj
