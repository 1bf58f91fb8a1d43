// SPDX-License-Identifier: Apache-2.0
// What finding an int3's site costs. Arguments: probes, table entries per probe, lookups, hot
// addresses (0: all in turn), cache 0|1. Prints "ns: X" for one lookup.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/shared/trap.h"

using namespace dj;

int main(int argc, char** argv) {
  if (argc < 6) return 1;
  const auto number = [&](int i) { return strtoull(argv[i], nullptr, 10); };
  const uint64_t probes = number(1), lookups = number(3), cached = number(5);
  const uint64_t hot = number(4) != 0 ? std::min<uint64_t>(number(4), probes) : probes;
  const auto sites = uint64_t(double(std::max<uint64_t>(probes, 1)) * atof(argv[2]) / 1.5);
  auto* table = static_cast<abi::TrapTable*>(
      aligned_alloc(64, (abi::trap_table_bytes(sites, 0) + 63) / 64 * 64));
  std::fill_n(reinterpret_cast<char*>(table), abi::trap_table_bytes(sites, 0), 0);
  const uint64_t data_bytes = (abi::trap_data_bytes(sites, 0, 1) + 63) / 64 * 64;
  void* data = aligned_alloc(64, data_bytes);
  std::fill_n(static_cast<char*>(data), data_bytes, 0);
  const abi::Arena arena = {reinterpret_cast<uint64_t>(data), data_bytes};
  abi::trap_table_init(table, 0, sites, 0);
  std::vector<uint64_t> addresses;  // functions as they lie in a program: some 300 bytes apart
  for (uint64_t i = 0; i < std::max<uint64_t>(probes, 1); i++)
    addresses.push_back(0x555500000000 + 304 * i + (i * 2654435761u >> 8 & 0x70));
  for (uint64_t i = 0; i < probes; i++)
    abi::trap_table_insert(table, &table->begin, addresses[i], addresses[i] + i);
  abi::TrapCache* cache = table->caches.get(arena);
  double best = 1e18;
  uint64_t sum = 0, at = 1;
  for (int run = 0; run < 10; run++) {
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < lookups / 10; i++) {
      at = at * 6364136223846793005u + 1442695040888963407u;
      const uint64_t address = addresses[(at >> 33) % std::max<uint64_t>(hot, 1)];
      bool hit = false;
      const abi::TrapEntry* entry = cached != 0 ? abi::trap_cached_find(table, cache, address, &hit)
                                                : abi::trap_table_find(table, address);
      sum += entry != nullptr ? abi::trap_detour(*entry) : 1;
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / double(lookups / 10 + 1));
  }
  printf("ns: %.2f\n", best);
  return sum == 42;
}
