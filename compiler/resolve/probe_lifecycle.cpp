// Probe kinds begin, end, error, never, oneshot, input, process.begin and process.end: run by the
// controller when the session or the target changes.
#include "compiler/resolve/probe_kind.h"

namespace dj {

namespace {

using When = HostProbe::When;

constexpr struct {
  std::string_view name;
  When when;
} kSession[] = {
    {"begin", When::Begin}, {"end", When::End},         {"error", When::Error},
    {"never", When::Never}, {"oneshot", When::Oneshot},
};

void find_session(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& c = query.point.components[0];
  HostProbe host;
  for (const auto& kind : kSession) {
    if (kind.name == c.name) {
      host.when = kind.when;
    }
  }
  host.text = to_string(query.point);
  if (const auto* order = std::get_if<int64_t>(&c.argument)) {
    meaning.order = *order;
  }
  meaning.host = host;
}

void find_process_change(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& process = query.point.components[0];
  if (std::holds_alternative<std::string>(process.argument)) {
    const size_t before = query.diags.error_count();
    query.modules.process(query.text(process), process.argument_span, query.diags);
    if (query.diags.error_count() != before) {
      return;
    }
  }
  HostProbe host;
  host.when = query.component("begin") ? When::ProcessBegin : When::ProcessEnd;
  host.text = to_string(query.point);
  meaning.host = host;
}

// A timer without an interval: run for each byte that comes.
void find_input(PointQuery& query, PointMeaning& meaning) {
  HostProbe host;
  host.when = When::Timer;
  host.text = to_string(query.point);
  meaning.host = host;
}

constexpr ProbeKind kKinds[] = {
    {"begin", find_session},
    {"begin(n)", find_session},
    {"end", find_session},
    {"end(n)", find_session},
    {"error", find_session},
    {"error(n)", find_session},
    {"never", find_session},
    {"oneshot", find_session},
    {"input", find_input},
    {"process.begin", find_process_change},
    {"process(s).begin", find_process_change},
    {"process.end", find_process_change},
    {"process(s).end", find_process_change},
};

}  // namespace

std::span<const ProbeKind> lifecycle_kinds() { return kKinds; }

}  // namespace dj
