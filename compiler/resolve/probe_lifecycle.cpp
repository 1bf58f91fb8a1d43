// Probe kinds begin, end and process.end: run by the controller when the session or the target
// changes.
#include "compiler/resolve/probe_kind.h"

namespace dj {

namespace {

void find_session(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& c = query.point.components[0];
  HostProbe host;
  host.when = c.name == "begin" ? HostProbe::When::Begin : HostProbe::When::End;
  host.text = to_string(query.point);
  if (const auto* order = std::get_if<int64_t>(&c.argument)) {
    meaning.order = *order;
  }
  meaning.host = host;
}

void find_process_end(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& process = query.point.components[0];
  if (std::holds_alternative<std::string>(process.argument)) {
    const size_t before = query.diags.error_count();
    query.modules.process(query.text(process), process.argument_span, query.diags);
    if (query.diags.error_count() != before) {
      return;
    }
  }
  HostProbe host;
  host.when = HostProbe::When::ProcessEnd;
  host.text = to_string(query.point);
  meaning.host = host;
}

constexpr ProbeKind kKinds[] = {
    {"begin", find_session},
    {"begin(n)", find_session},
    {"end", find_session},
    {"end(n)", find_session},
    {"process.end", find_process_end},
    {"process(s).end", find_process_end},
};

}  // namespace

std::span<const ProbeKind> lifecycle_kinds() { return kKinds; }

}  // namespace dj
