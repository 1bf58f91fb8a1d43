// SPDX-License-Identifier: Apache-2.0
// Slots: the words through which the detours of a session that switches call their handlers. A slot
// holds the handler's address, or that of a `ret` while the handler is off. They are data of the
// code area, which the program can read and not write: a switch is one aligned 8-byte store through
// djtap's mapping, atomic (Intel SDM vol. 3, 8.1.1) and seen by every processor in order (8.2.2).
//
// The displacement of the call itself could be stored over as well, but other processors execute
// it: the SDM (8.1.3) promises nothing of code that another processor changes until it has executed
// a serializing instruction, however the bytes are aligned; the kernel's text_poke() puts an int3
// over the first byte for that reason. And such a store empties the pipelines of all who run the
// code area's line, while a load from a slot costs 0.1 ns.
#include <algorithm>

#include "runtime/detours/detour_writer.h"
#include "runtime/shared/atomic.h"

namespace dj {
namespace {

constexpr uint64_t kLine = 64;  // what lies in a line of slots is no code
uint64_t line_up(uint64_t value) { return (value + kLine - 1) & ~(kLine - 1); }

}  // namespace

uint64_t slot_bytes(const SiteList& sites) {
  uint64_t calls = 0;
  for (const PatchSite* site : sites) {
    calls += site->calls.size();
  }
  return 2 * kLine + line_up(calls * sizeof(uint64_t));
}

Status DetourWriter::give_slots(const SiteList& sites) {
  for (size_t i = 0; i < areas_.size(); i++) {
    SiteList served;
    uint64_t calls = 0;
    for (PatchSite* site : sites) {
      if (site->state == SiteState::Registered && areas_.index_near(site->address) == i) {
        served.push_back(site);
        calls += site->calls.size();
      }
    }
    const std::optional<uint64_t> room =
        areas_.area(i).reserve(kLine + line_up(calls * sizeof(uint64_t)));
    if (!room) {
      return Error{"no room left for code near the module"};
    }
    uint64_t next = line_up(*room);
    for (PatchSite* site : served) {
      for (PatchCall& call : site->calls) {
        call.slot = next;
        next += sizeof(uint64_t);
        turn(*site, call);
      }
    }
  }
  return ok_status();
}

void DetourWriter::turn(const PatchSite& site, const PatchCall& call) const {
  if (call.slot == 0) {
    return;
  }
  const std::optional<size_t> index = areas_.index_near(site.address);
  CHECK(index.has_value());
  const CodeArea& area = areas_.area(*index);
  const Linked& code = linked_[*index];
  auto* word = reinterpret_cast<uint64_t*>(area.view(call.slot, sizeof(uint64_t)).data());
  abi::store(word, call.off == 0 ? entry_of(call, code) : code.symbols.at("dj_switched_off"));
}

}  // namespace dj
