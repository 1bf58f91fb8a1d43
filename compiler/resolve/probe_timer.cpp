// Probe kind timer.UNIT(n): run by the controller at intervals.
#include <fmt/format.h>

#include "compiler/resolve/probe_kind.h"

namespace dj {

namespace {

constexpr struct {
  std::string_view name;
  uint64_t ns;
} kUnits[] = {
    {"s", 1000000000}, {"sec", 1000000000}, {"ms", 1000000},
    {"msec", 1000000}, {"us", 1000},        {"usec", 1000},
};
// Shorter intervals would keep the controller busy with nothing else.
constexpr uint64_t kShortestNs = 100000;

void find_timer(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& c = query.point.components[1];
  const int64_t count = std::get<int64_t>(c.argument);
  uint64_t ns = 0;
  if (c.name == "hz") {
    ns = count > 0 ? 1000000000 / uint64_t(count) : 0;
  }
  for (const auto& unit : kUnits) {
    if (unit.name == c.name && count > 0 && uint64_t(count) < (1ull << 62) / unit.ns) {
      ns = uint64_t(count) * unit.ns;
    }
  }
  if (ns < kShortestNs) {
    query.diags.error(
        "DJ3002", c.argument_span,
        fmt::format("timer.{} takes a positive number, for an interval of 100 us or more", c.name));
    return;
  }
  HostProbe host;
  host.when = HostProbe::When::Timer;
  host.interval_ns = ns;
  host.text = to_string(query.point);
  meaning.host = host;
}

constexpr ProbeKind kKinds[] = {
    {"timer.s(n)", find_timer},    {"timer.sec(n)", find_timer}, {"timer.ms(n)", find_timer},
    {"timer.msec(n)", find_timer}, {"timer.us(n)", find_timer},  {"timer.usec(n)", find_timer},
    {"timer.hz(n)", find_timer},
};

}  // namespace

std::span<const ProbeKind> timer_kinds() { return kKinds; }

}  // namespace dj
