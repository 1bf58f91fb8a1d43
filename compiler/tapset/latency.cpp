// Expands .latency like an alias whose name stands at the end of a point.
#include "compiler/tapset/latency.h"

#include <algorithm>

#include "compiler/parse/parse.h"
#include "compiler/tapset/copy_ast.h"

namespace dj {

using namespace ast;

namespace {

// Captured entry values are kept by frame, so a recursive call has a time of its own.
constexpr const char* kPrologue =
    "probe func(\"\").return { elapsed = local_clock_ns() - @entry(local_clock_ns()) }\n";

bool asks_latency(const ProbePoint& point) {
  return point.components.size() > 1 && point.components.back().name == "latency" &&
         point.components.back().argument.index() == 0;
}

StmtPtr behind(const Stmt& prologue, const Stmt& body) {
  auto made = std::make_unique<Stmt>();
  made->span = body.span;
  Block block;
  block.body.push_back(copy(prologue));
  block.body.push_back(copy(body));
  made->node = std::move(block);
  return made;
}

}  // namespace

void expand_latency(Script& script, Sources& sources, Diags& diags) {
  std::vector<Probe> timed;
  StmtPtr prologue;
  for (Probe& probe : script.probes) {
    auto first = std::stable_partition(probe.points.begin(), probe.points.end(),
                                       [](const ProbePoint& p) { return !asks_latency(p); });
    if (first == probe.points.end()) continue;
    if (!prologue) {
      Script parsed = parse(sources, sources.add("<.latency>", kPrologue), {}, diags);
      prologue = std::move(parsed.probes.at(0).body);
    }
    Probe made;
    made.span = probe.span;
    made.body = behind(*prologue, *probe.body);
    made.points.assign(first, probe.points.end());
    for (ProbePoint& point : made.points) point.components.back().name = "return";
    probe.points.erase(first, probe.points.end());
    timed.push_back(std::move(made));
  }
  std::erase_if(script.probes, [](const Probe& probe) { return probe.points.empty(); });
  for (Probe& probe : timed) script.probes.push_back(std::move(probe));
}

}  // namespace dj
