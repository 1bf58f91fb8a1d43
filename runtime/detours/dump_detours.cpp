// SPDX-License-Identifier: Apache-2.0
// Dump of detours: what --dump=detours prints and the golden tests compare.
#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "runtime/detours/detours.h"

namespace dj {
namespace {

// "detour of 0x1139 41 bytes copies 0@24 4@28 bytes f30f…": offsets in the region, and of the
// instructions' copies in the detour. A copy in front of the handlers has a smaller offset than
// they; several forms at one address have a detour each, of which the last one is shown.
std::string line_of(const PatchSite& place, const DetourWriter& writer, uint64_t bias) {
  std::string line = fmt::format("{} of {:#x} {} bytes", place.hook ? "hook" : "detour",
                                 place.address - bias, place.detour_bytes);
  if (place.jump && place.form)
    line += fmt::format(" stub {}", arch::tactic_name(place.form->placement.tactic));
  for (const auto& [offset, copy] : place.copies) {
    if (copy >= place.detour && copy < place.detour + place.detour_bytes)
      line += fmt::format(" {}@{}", offset, copy - place.detour);
  }
  const std::span<const uint8_t> bytes = writer.areas().view(place.detour, place.detour_bytes);
  return line + fmt::format(" bytes {:02x}\n", fmt::join(bytes, ""));
}

}  // namespace

std::string dump(const Detours& detours) {
  const PatchPlan& patches = detours.plan.patches;
  const std::vector<MappedModule>& modules = detours.plan.modules;
  const size_t areas = detours.writer.areas().size();
  std::string out = fmt::format("{} code area{}\n", areas, areas == 1 ? "" : "s");
  for (size_t module = 0; module < modules.size(); module++) {
    std::string places;
    for (const std::vector<PatchSite>* list : {&patches.hooks, &patches.sites}) {
      for (const PatchSite& place : *list) {
        if (place.module == module && place.detour != 0)
          places += line_of(place, detours.writer, modules[module].bias);
      }
    }
    if (!places.empty()) out += printable_line("module {}", modules[module].path) + places;
  }
  return out;
}

}  // namespace dj
