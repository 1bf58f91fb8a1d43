// SPDX-License-Identifier: Apache-2.0
// The table is read by the agent at any moment, so that its entries are only added or changed.
#include "runtime/install/traps.h"

#include "runtime/shared/atomic.h"

namespace dj {

bool Traps::may_trap() const { return is_set() && abi::load(&words().trapless) == 0; }

void Traps::fill(const SessionMemory& memory, const SiteList& sites, uint64_t handler,
                 uint64_t restorer) {
  room_.view = memory.constants() + room_.table - room_.arena;
  fill_trap_table(room_, sites);
  table().cache_on = has_cache_;
  header_word_ = &reinterpret_cast<abi::Header*>(memory.constants())->trap_table;
  *header_word_ = {static_cast<uint32_t>(room_.table - room_.arena)};
  setup_ = TrapSetup(room_.table, memory.threads(), handler, restorer);
}

bool Traps::insert(uint64_t address, uint64_t detour) {
  abi::TrapTable* table = &this->table();
  if (!is_shared_) return abi::trap_table_insert(table, &table->begin, address, detour);
  // Where an object was that is gone: what stands there is found first.
  abi::TrapEntry* old = abi::trap_part_find(table, table->begin, address, false);
  if (old == nullptr) return abi::trap_table_insert(table, &table->dlopened, address, detour);
  return abi::trap_set_detour(old, address, detour);
}

void Traps::refuse() {
  words().trapless = 1;
  *header_word_ = {};
}

void Traps::want_none(uint64_t why) {
  if (is_installed()) abi::store(&words().stack_small, why);
}

uint64_t Traps::wanted_none() const {
  if (!is_installed()) return 0;
  return abi::load(&words().trapless) == 0 ? abi::load(&words().stack_small) : 0;
}

Status Traps::take_back(Stopped& stopped) const {
  return stopped.take_back_traps([this](uint64_t address) {
    const abi::TrapEntry* entry = abi::trap_table_find(&table(), address);
    return entry == nullptr ? 0 : abi::trap_detour(*entry);
  });
}

Status Traps::rewind(Stopped& stopped) const {
  return stopped.take_back_traps([this](uint64_t address) {
    return abi::trap_table_find(&table(), address) == nullptr ? 0 : address;
  });
}

uint64_t Traps::hits(uint64_t address) const {
  if (!is_shared_ && header_word_ == nullptr) return 0;
  const abi::TrapEntry* entry = abi::trap_table_find(&table(), address);
  return entry == nullptr ? 0
                          : abi::load(abi::trap_hits(&words(), abi::trap_index(&table(), entry)));
}

uint64_t Traps::hits(const PatchSite& site, uint32_t guards) const {
  if (guards == 0) return 0;
  uint64_t sum = 0;
  for (auto [address, detour] : trap_entries_of(site)) {
    if ((guards >> (address - site.address) & 1) != 0) sum += hits(address);
  }
  return sum;
}

uint64_t Traps::bytes() const {
  return is_installed() ? table().begin.size * sizeof(abi::TrapEntry) : 0;
}

}  // namespace dj
