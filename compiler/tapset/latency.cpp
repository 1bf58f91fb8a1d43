// SPDX-License-Identifier: Apache-2.0
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

// The points of `probe` that ask for it, taken out as a probe of their own.
Probe take_timed(Probe& probe, std::vector<ProbePoint>::iterator first, const Stmt& prologue) {
  Probe timed;
  timed.span = probe.span;
  timed.body = behind(prologue, *probe.body);
  timed.points.assign(first, probe.points.end());
  for (ProbePoint& point : timed.points) point.components.back().name = "return";
  probe.points.erase(first, probe.points.end());
  return timed;
}

}  // namespace

void expand_latency(Script& script, Sources& sources, Diags& diags) {
  std::vector<Probe> probes;  // in the script's order, in which probes of one place run
  StmtPtr prologue;
  for (Probe& probe : script.probes) {
    auto first = std::stable_partition(probe.points.begin(), probe.points.end(),
                                       [](const ProbePoint& p) { return !asks_latency(p); });
    if (first == probe.points.end()) {
      probes.push_back(std::move(probe));
      continue;
    }
    if (!prologue) {
      Script parsed = parse(sources, sources.add("<.latency>", kPrologue), {}, diags);
      prologue = std::move(parsed.probes.at(0).body);
    }
    Probe timed = take_timed(probe, first, *prologue);
    if (!probe.points.empty()) probes.push_back(std::move(probe));
    probes.push_back(std::move(timed));
  }
  script.probes = std::move(probes);
}

}  // namespace dj
