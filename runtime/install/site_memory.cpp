// SPDX-License-Identifier: Apache-2.0
// Counts what the islands, the journal and the tables hold for the places of a session.
#include "runtime/install/site_memory.h"

#include <fmt/format.h>

#include "runtime/install/install.h"

namespace dj {

SiteMemory Installation::site_memory() const {
  SiteMemory memory = bytes_;
  for (const PatchSite& site : patches_.sites) {
    memory.places += site.state != SiteState::Skipped && site.state != SiteState::Registered;
  }
  memory.journal = journal_ ? journal_->bytes() : 0;
  memory.tables = patches_.names.size() * sizeof(abi::SiteInfo);
  memory.traps = traps_.bytes();
  return memory;
}

std::string to_string(const SiteMemory& memory) {
  if (memory.places == 0) {
    return "";
  }
  auto each = [&](uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(memory.places);
  };
  return fmt::format(
      "{:.1f} bytes a place: detours {:.1f}, stubs {:.1f}, journal {:.1f}, tables {:.1f}, trap "
      "look-up {:.1f}",
      each(memory.total()), each(memory.detours), each(memory.stubs), each(memory.journal),
      each(memory.tables), each(memory.traps));
}

}  // namespace dj
