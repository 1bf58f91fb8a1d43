// SPDX-License-Identifier: Apache-2.0
// A pattern is looked for among the tapsets' names, then among djtap's own points.
#include "runtime/run/list_points.h"

#include "compiler/parse/parse.h"
#include "compiler/resolve/listing.h"
#include "compiler/resolve/meant_target.h"
#include "compiler/resolve/process_number.h"
#include "compiler/resolve/source_listing.h"
#include "runtime/process/loader_cache.h"
#include "runtime/run/expand.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/list_aliases.h"
#include "runtime/run/show.h"
#include "runtime/session/loop.h"

namespace dj {

int list_points(const ListChoices& what, const ScriptChoices& choices, const TargetChoices& wanted,
                const NeededFiles& needed, const CommandLine& line) {
  Sources sources;
  uint32_t file = sources.add("<command line>", "probe " + *what.pattern + " {}");
  Diags diags;
  ast::Script script = parse(sources, file, {}, diags);
  const bool is_point = script.probes.size() == 1 && script.aliases.empty() &&
                        script.functions.empty() && script.globals.empty();
  if (diags.ok() && !is_point)
    return fail_usage(
        line,
        {"DJ0003", "-l,-L,--source", "what is to be listed is no list of probe points", {}, ""});
  const HeldSignals held;
  TargetChoices choice = wanted;
  if (diags.ok()) take_named_processes(script, false, choice);
  if (auto code = give_up_rights(choice, needed)) return *code;
  LazyTarget target(choice, TargetUse::List, held.before());
  MeantTarget meant(choice.is_given());
  for (const ast::Probe& probe : script.probes) meant.add(probe.points);
  meant.check(diags);
  const Result<FoundTarget>& found = target.find(meant);
  if (!found.ok()) return target.failure();
  std::string text;
  if (diags.ok()) {
    std::vector<ast::ProbePoint>& points = script.probes.front().points;
    take_process_numbers(points, found.value().pid(), false, diags);
    TargetFiles files = target_files(found.value());
    files.find_library = find_library;
    if (!diags.ok())
      text.clear();
    else if (what.source)
      text = list_source(points.front(), files, diags);
    else if (auto names = list_aliases(what.variables, choices, points, target, sources, diags))
      text = *names;
    else if (diags.ok())
      text = list(points, files, what.variables, diags);
  }
  if (text.empty() && diags.ok())
    return fail(kExitScript, "DJ3022",
                "the tapsets have this probe point, but nothing of this program is one");
  show(text);
  report_all(diags, sources);
  return diags.ok() ? kExitOk : kExitScript;
}

}  // namespace dj
