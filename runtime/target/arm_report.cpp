// SPDX-License-Identifier: Apache-2.0
// The numbers of arming as text.
#include "runtime/target/arm_report.h"

#include <fmt/format.h>

namespace dj {

std::string to_string(const InstallTimes& times) {
  return times.live_ns == 0 ? ""
                            : fmt::format("; patched while it ran: {:.1f} ms",
                                          static_cast<double>(times.live_ns) / 1e6);
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
