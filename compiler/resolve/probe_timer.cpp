// SPDX-License-Identifier: Apache-2.0
// Probe kinds timer.UNIT(n): run by the controller at intervals; and timer.profile: samples of the
// target's threads.
#include <fmt/format.h>

#include "compiler/resolve/probe_kind.h"

namespace dj {

namespace {

constexpr struct {
  std::string_view name;
  uint64_t ns;
} kUnits[] = {
    {"s", 1000000000}, {"sec", 1000000000}, {"ms", 1000000}, {"msec", 1000000},     {"us", 1000},
    {"usec", 1000},    {"ns", 1},           {"nsec", 1},     {"jiffies", 10000000},
};
// A jiffy is what user space sees of one: 1/100 s. Shorter intervals would keep the controller busy
// with nothing else.
constexpr uint64_t kShortestNs = 100000;

// n units of that name; 0: not a positive number of a unit, or too many.
uint64_t nanoseconds(std::string_view name, int64_t count) {
  if (name == "hz") {
    return count > 0 ? 1000000000 / uint64_t(count) : 0;
  }
  for (const auto& unit : kUnits) {
    if (unit.name == name && count > 0 && uint64_t(count) < (1ull << 62) / unit.ns) {
      return uint64_t(count) * unit.ns;
    }
  }
  return 0;
}

void find_timer(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& c = query.point.components[1];
  HostProbe host;
  host.when = HostProbe::When::Timer;
  host.interval_ns = nanoseconds(c.name, std::get<int64_t>(c.argument));
  host.text = to_string(query.point);
  if (const ast::Component* random = query.component("randomize")) {
    host.random_ns = nanoseconds(c.name, std::get<int64_t>(random->argument));
    if (host.random_ns == 0 || host.random_ns > host.interval_ns) {
      query.diags.error("DJ3002", random->argument_span,
                        "randomize takes a positive number, not larger than the interval");
      return;
    }
  }
  if (host.interval_ns < kShortestNs) {
    query.diags.error(
        "DJ3002", c.argument_span,
        fmt::format("timer.{} takes a positive number, for an interval of 100 us or more", c.name));
    return;
  }
  meaning.host = host;
}

// Run in each thread of the target that runs just then (runtime/target/process/sampler.h).
void find_profile(PointQuery& query, PointMeaning& meaning) {
  constexpr int64_t kUsualHertz = 100, kMostHertz = 1000;
  int64_t hertz = kUsualHertz;
  if (const ast::Component* c = query.component("hz")) {
    hertz = std::get<int64_t>(c->argument);
    if (hertz < 1 || hertz > kMostHertz) {
      query.diags.error(
          "DJ3002", c->argument_span,
          fmt::format("timer.profile.freq.hz takes 1 to {} samples a second", kMostHertz));
      return;
    }
  }
  if (!query.modules.has_target()) {
    query.diags.error("DJ3006", query.point.span, "no process is traced").help = kTraceSomething;
    return;
  }
  HostProbe host;
  host.when = HostProbe::When::Timer;
  host.interval_ns = nanoseconds("hz", hertz);
  host.text = to_string(query.point);
  meaning.host = host;
}

constexpr ProbeKind kTimerKinds[] = {
    {"timer.s(n)", find_timer},
    {"timer.sec(n)", find_timer},
    {"timer.ms(n)", find_timer},
    {"timer.msec(n)", find_timer},
    {"timer.us(n)", find_timer},
    {"timer.usec(n)", find_timer},
    {"timer.ns(n)", find_timer},
    {"timer.nsec(n)", find_timer},
    {"timer.hz(n)", find_timer},
    {"timer.jiffies(n)", find_timer},
    {"timer.s(n).randomize(n)", find_timer},
    {"timer.sec(n).randomize(n)", find_timer},
    {"timer.ms(n).randomize(n)", find_timer},
    {"timer.msec(n).randomize(n)", find_timer},
    {"timer.us(n).randomize(n)", find_timer},
    {"timer.usec(n).randomize(n)", find_timer},
    {"timer.ns(n).randomize(n)", find_timer},
    {"timer.nsec(n).randomize(n)", find_timer},
    {"timer.jiffies(n).randomize(n)", find_timer},
    {"timer.profile", find_profile},
    {"timer.profile.tick", find_profile},
    {"timer.profile.freq.hz(n)", find_profile},
};

}  // namespace

std::span<const ProbeKind> timer_kinds() { return kTimerKinds; }

}  // namespace dj
