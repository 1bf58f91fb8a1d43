// SPDX-License-Identifier: Apache-2.0
// Places are counted by probe: which of its points has found one is not kept.
#include "compiler/resolve/many_places.h"

#include <fmt/format.h>

#include <variant>

#include "compiler/debuginfo/pattern.h"

namespace dj {
namespace {

const ast::Component* wildcard_in(const Probe& probe) {
  for (const ast::ProbePoint& point : probe.points) {
    for (const ast::Component& part : point.components) {
      const std::string* text = std::get_if<std::string>(&part.argument);
      if (text != nullptr && has_wildcard(*text)) return &part;
    }
  }
  return nullptr;
}

}  // namespace

void warn_of_many(const Program& program, const Plan& plan, size_t most, Diags& diags) {
  if (most == 0) return;
  std::vector<size_t> places(program.probes.size());
  for (const Site& site : plan.sites) {
    for (HandlerId id : site.handlers) {
      const Handler& handler = plan.handlers[id];
      if (handler.role == Handler::Role::Body) ++places[handler.probe];
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const ast::Component* part = places[i] > most ? wildcard_in(program.probes[i]) : nullptr;
    if (part == nullptr) continue;
    Diag& diag = diags.warning("DJ3901", part->argument_span,
                               fmt::format("this means {} places", places[i]));
    diag.help =
        "name an object or a part of the name: func(\"libc.so.6!mem*\"); -l lists what is "
        "meant, --many=0 is without this warning";
  }
}

}  // namespace dj
