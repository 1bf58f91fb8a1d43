// SPDX-License-Identifier: Apache-2.0
// Dump of a PatchPlan: what --dump=patches prints and the golden tests compare.
#include <fmt/format.h>

#include <set>

#include "compiler/base/printable.h"
#include "runtime/patch/patch_plan.h"

namespace dj {
namespace {

const char* kind_name(PatchCall::Kind kind) {
  constexpr const char* kNames[] = {"body", "leave", "land", "object"};
  return kNames[kind];
}

// "3:body", "4:leave at exit".
std::string text_of(const PatchCall& call) {
  if (call.kind == PatchCall::Object) return kind_name(call.kind);
  return fmt::format("{}:{}{}", call.handler, kind_name(call.kind), call.at_exit ? " at exit" : "");
}

// How the place is patched, or why it is not.
std::string form_of(const PatchSite& place) {
  if (place.state == SiteState::Skipped) return fmt::format("skipped ({})", place.reason.str());
  if (!place.jump) return fmt::format("int3 ({})", place.reason.str());
  if (!place.form) return "jump";
  std::set<std::string> tactics;
  for (const arch::Placement& placement : place.form->placements)
    tactics.insert(arch::tactic_name(placement.tactic));
  return fmt::format("jump {}", fmt::join(tactics, " or "));
}

std::string line_of(const PatchSite& place, const SiteNames& names, const MappedModule& module) {
  std::string line = fmt::format("{} {:#x} {}", place.hook ? "hook" : "place",
                                 place.address - module.bias, form_of(place));
  if (place.state != SiteState::Skipped)
    line +=
        fmt::format(" bytes {:02x} displaced {}", fmt::join(place.original, ""), place.displaced);
  for (const SiteId owner : place.owners)
    line += " of " + names.shown_at(owner, place.probe_address() - module.bias);
  std::string separator = " calls ";
  for (const PatchCall& call : place.calls) {
    line += separator + text_of(call);
    separator = ", ";
  }
  return printable(line) + "\n";
}

}  // namespace

std::string dump(const PatchPlan& patches, const std::vector<MappedModule>& modules) {
  std::string out = fmt::format("text: {}\n", patches.live ? "while threads run" : "stopped");
  if (!patches.no_int3.empty()) out += fmt::format("no int3: {}\n", patches.no_int3);
  for (size_t module = 0; module < modules.size(); module++) {
    std::string places;
    for (const std::vector<PatchSite>* list : {&patches.hooks, &patches.sites}) {
      for (const PatchSite& place : *list) {
        if (place.module == module) places += line_of(place, patches.names, modules[module]);
      }
    }
    if (!places.empty()) out += printable_line("module {}", modules[module].path) + places;
  }
  return out;
}

}  // namespace dj
