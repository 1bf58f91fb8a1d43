// SPDX-License-Identifier: Apache-2.0
// Free ranges and clusters, by arithmetic alone.
#include "runtime/memory/address_space.h"

#include <algorithm>

#include "compiler/base/page.h"

namespace dj {
namespace {

constexpr uint64_t kReach =
    (uint64_t{1} << 31) - (64 << 10);  // of a rel32, less what an instruction may add
constexpr uint64_t kLowest = 1 << 20;  // above every sane vm.mmap_min_addr
// AddressSanitizer's shadow memory: a program that is built with it wants all of that when it
// starts, and ends where something lies in it.
constexpr AddressRange kShadow = {0x7fff7000, 0x10007fff8000};
constexpr uint64_t kArenaEnd = kShadow.begin;
constexpr uint64_t kUserEnd = 0x7ffffffff000;
constexpr uint64_t kStackRoom = 64 << 20;  // kept free below what may grow downwards
// Kept free above a heap, where possible. Linux begins it up to 1 GB behind a program with fixed
// addresses; with this room the arena is at the highest addresses in any run, so that what is kept
// of an earlier run fits. A heap that grows farther goes on by mmap().
constexpr uint64_t kHeapRoom = uint64_t{768} << 20;

// All that is not free, with the room that must stay free around it, ascending.
std::vector<AddressRange> occupied(const std::vector<Mapping>& maps,
                                   const std::vector<AddressRange>& taken, uint64_t heap_begin,
                                   uint64_t heap_room) {
  std::vector<AddressRange> all = taken;
  for (const Mapping& m : maps) {
    uint64_t below = m.path == "[stack]" ? std::min(m.begin, kStackRoom) : 0;
    uint64_t above = m.path == "[heap]" ? heap_room : 0;
    all.push_back({m.begin - below, m.end + above});
  }
  const bool shadowed = std::any_of(maps.begin(), maps.end(), [](const Mapping& m) {
    return m.path.find("/libasan.so") != std::string::npos;
  });
  if (shadowed) all.push_back(kShadow);
  if (heap_begin != 0) {
    all.push_back({page_down(heap_begin), page_up(heap_begin) + heap_room});
  }
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  return all;
}

// Highest place for `bytes` within [low, high); 0: none.
uint64_t highest_free(const std::vector<AddressRange>& busy, uint64_t low, uint64_t high,
                      uint64_t bytes) {
  if (high < low + bytes) {
    return 0;
  }
  uint64_t candidate = page_down(high - bytes);
  // Ranges may overlap in pairs, so all that collide are asked again until none does.
  for (bool moved = true; moved;) {
    moved = false;
    for (auto range = busy.rbegin(); range != busy.rend(); ++range) {
      if (range->begin < candidate + bytes && candidate < range->end) {
        if (range->begin < low + bytes) {
          return 0;
        }
        candidate = page_down(range->begin - bytes);
        moved = true;
      }
    }
  }
  return candidate >= low ? candidate : 0;
}

uint64_t lowest_free(const std::vector<AddressRange>& busy, uint64_t low, uint64_t high,
                     uint64_t bytes) {
  uint64_t candidate = page_up(low);
  for (bool moved = true; moved;) {
    moved = false;
    for (const AddressRange& range : busy) {
      if (range.begin < candidate + bytes && candidate < range.end) {
        candidate = page_up(range.end);
        moved = true;
      }
    }
  }
  return candidate + bytes <= high ? candidate : 0;
}

}  // namespace

Result<uint64_t> choose_arena_base(const std::vector<Mapping>& target,
                                   const std::vector<Mapping>& self, uint64_t heap_begin,
                                   uint64_t bytes) {
  for (uint64_t heap_room : {kHeapRoom, uint64_t{64} << 20, uint64_t{0}}) {
    std::vector<AddressRange> busy = occupied(target, {}, heap_begin, heap_room);
    for (const Mapping& m : self) {
      busy.push_back({m.begin, m.end + (m.path == "[heap]" ? heap_room : 0)});
    }
    std::sort(busy.begin(), busy.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
    uint64_t base = highest_free(busy, kLowest, kArenaEnd - kPage, page_up(bytes));
    if (base != 0) {
      return base;
    }
  }
  return Error{"no " + std::to_string(bytes >> 20) +
               " MB of addresses below 2 GB are free in both processes; "
               "smaller buffers need less (-D MAXMAPENTRIES=..., RINGBYTES=...)"};
}

std::vector<Cluster> make_clusters(const std::vector<AddressRange>& modules, uint64_t bytes) {
  std::vector<size_t> order(modules.size());
  for (size_t i = 0; i < order.size(); i++) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return modules[a].begin < modules[b].begin; });
  // Half the reach for the modules leaves the other half for finding a place beside them.
  const uint64_t span_max = kReach > bytes ? (kReach - bytes) / 2 : 0;
  std::vector<Cluster> clusters;
  for (size_t i : order) {
    const AddressRange& module = modules[i];
    bool joins = !clusters.empty() && module.end - clusters.back().span.begin <= span_max;
    if (!joins) {
      clusters.push_back({module, {}});
    }
    clusters.back().span.end = std::max(clusters.back().span.end, module.end);
    clusters.back().members.push_back(i);
  }
  return clusters;
}

namespace {

uint64_t find_area_base(const std::vector<Mapping>& target, const std::vector<AddressRange>& taken,
                        uint64_t heap_begin, const Cluster& cluster, uint64_t bytes) {
  bytes = page_up(bytes);
  uint64_t low = cluster.span.end > kReach ? cluster.span.end - kReach : 0;
  low = std::max(page_up(low), kLowest);
  uint64_t high = std::min(cluster.span.begin + kReach, kUserEnd);
  for (uint64_t heap_room : {kHeapRoom, uint64_t{64} << 20, uint64_t{0}}) {
    std::vector<AddressRange> busy = occupied(target, taken, heap_begin, heap_room);
    // Below, with room for what grows down from the modules; for images at the bottom: as far above
    // as can be.
    uint64_t base =
        highest_free(busy, low, std::max(cluster.span.begin, kStackRoom) - kStackRoom, bytes);
    if (base == 0) {
      base = highest_free(busy, std::max(low, cluster.span.end), high, bytes);
    }
    if (base == 0) {
      base = lowest_free(busy, low, high, bytes);
    }
    if (base != 0) {
      return base;
    }
  }
  return 0;
}

}  // namespace

uint64_t choose_area_base(const std::vector<Mapping>& target,
                          const std::vector<AddressRange>& taken, uint64_t heap_begin,
                          const Cluster& cluster, uint64_t bytes) {
  // The program may have AddressSanitizer linked in; one at these addresses has not.
  std::vector<AddressRange> spared = taken;
  spared.push_back(kShadow);
  const uint64_t base = find_area_base(target, spared, heap_begin, cluster, bytes);
  return base != 0 ? base : find_area_base(target, taken, heap_begin, cluster, bytes);
}

std::vector<AreaPlace> choose_areas(const std::vector<Mapping>& target,
                                    std::vector<AddressRange>& taken, uint64_t heap_begin,
                                    const std::vector<AddressRange>& modules, uint64_t bytes) {
  std::vector<AreaPlace> places;
  for (const Cluster& cluster : make_clusters(modules, bytes)) {
    const uint64_t base = choose_area_base(target, taken, heap_begin, cluster, bytes);
    if (base != 0) taken.push_back({base, base + bytes});
    places.push_back({cluster.span, base});
  }
  return places;
}

std::vector<AddressRange> free_ranges(const std::vector<Mapping>& target,
                                      const std::vector<AddressRange>& taken, uint64_t heap_begin) {
  std::vector<AddressRange> free;
  uint64_t begin = kLowest;
  const auto add_until = [&](uint64_t end) {
    end = std::min(page_down(end), kUserEnd);  // [vsyscall] lies behind
    if (begin < end) free.push_back({begin, end});
  };
  for (const AddressRange& busy : occupied(target, taken, heap_begin, uint64_t{64} << 20)) {
    add_until(busy.begin);
    begin = std::max(begin, page_up(busy.end));
  }
  add_until(kUserEnd);
  return free;
}

}  // namespace dj
