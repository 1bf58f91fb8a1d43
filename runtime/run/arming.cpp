// SPDX-License-Identifier: Apache-2.0
// The conditions are evaluated by handlers of djtap's own, compiled as all others are.
#include "runtime/run/arming.h"

#include <variant>

#include "runtime/output/global_values.h"
#include "runtime/output/messages.h"

namespace dj {

ArmingWatch::ArmingWatch(const Compiled& compiled, Session& session)
    : compiled_(compiled), session_(session) {
  if (session.target() == nullptr) return;
  for (const Arming& arming : compiled.own.armings) {
    for (const HostProbe& host : compiled.plan.host_probes) {
      if (compiled.plan.handlers[host.handler].probe == arming.test)
        watched_.push_back({arming, host.handler});
    }
  }
}

std::set<HandlerAt> ArmingWatch::handlers_of(ProbeId probe) const {
  std::set<HandlerAt> handlers;
  for (const InstalledSite& site : session_.sites()) {
    for (const InstalledHandler& each : site.handlers) {
      if (each.probe == probe) handlers.insert({site.site, each.handler});
    }
  }
  return handlers;
}

void ArmingWatch::look() {
  const bool more = session_.set_count() != dlopened_;
  dlopened_ = session_.set_count();
  for (Watched& each : watched_) {
    session_.run_host(each.test);
    const GlobalValue now = read_global(compiled_.program, each.arming.armed, compiled_.layout);
    const bool armed = std::get<int64_t>(now.elements.front().value) != 0;
    if (armed == each.armed && (armed || !more)) continue;  // what comes later comes armed
    each.armed = armed;
    Status done = session_.switch_handlers(handlers_of(each.arming.probe), armed, kOffByCondition);
    if (!done.ok()) report_undone(done.error().message);
  }
}

}  // namespace dj
