// SPDX-License-Identifier: Apache-2.0
// Where things can be put: pure searches over the mappings of processes.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"

namespace dj {

// A page-aligned address below 2 GB where `bytes` are free in both
// processes: as high as possible, so that a brk heap below keeps its room. heap_begin: of the
// target (the heap may not exist yet).
Result<uint64_t> choose_arena_base(const std::vector<Mapping>& target,
                                   const std::vector<Mapping>& self, uint64_t heap_begin,
                                   uint64_t bytes);

// Cluster: modules that one code area can serve, so that every byte of the code area and every byte
// of the modules are within 2 GB of each other.
struct Cluster {
  AddressRange span;            // from the lowest to the highest module byte
  std::vector<size_t> members;  // indexes into the given ranges
};
// bytes: of a code area (each cluster gets one of that size at most).
std::vector<Cluster> make_clusters(const std::vector<AddressRange>& modules, uint64_t bytes);
// A free place for a code area of this cluster, preferably below it (heaps grow upwards). `taken`:
// ranges to keep clear besides the mappings. 0 if there is none.
uint64_t choose_area_base(const std::vector<Mapping>& target,
                          const std::vector<AddressRange>& taken, uint64_t heap_begin,
                          const Cluster& cluster, uint64_t bytes);

// Where a code area lies, and the span of the modules that it serves.
struct AreaPlace {
  AddressRange served;
  uint64_t base = 0;  // 0: there is no room within reach of them
};
// One for each cluster of these modules. `taken`: as above; the code areas' own are added.
std::vector<AreaPlace> choose_areas(const std::vector<Mapping>& target,
                                    std::vector<AddressRange>& taken, uint64_t heap_begin,
                                    const std::vector<AddressRange>& modules, uint64_t bytes);

// What is free of the user address space, ascending, page-aligned: room for stacks and a heap is
// not.
std::vector<AddressRange> free_ranges(const std::vector<Mapping>& target,
                                      const std::vector<AddressRange>& taken, uint64_t heap_begin);

}  // namespace dj
