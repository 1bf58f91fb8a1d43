// SPDX-License-Identifier: Apache-2.0
// A start of djtap as far as the check; with a target, as far as the places of probes.
#include "runtime/run/check_script.h"

#include "compiler/check/check.h"
#include "compiler/parse/parse.h"
#include "compiler/resolve/double_targets.h"
#include "compiler/resolve/many_places.h"
#include "compiler/resolve/process_number.h"
#include "compiler/resolve/resolve.h"
#include "compiler/tapset/library.h"
#include "runtime/lua/lua_tapset.h"
#include "runtime/output/tell.h"
#include "runtime/run/expand.h"
#include "runtime/run/header_types.h"
#include "runtime/run/lazy_target.h"
#include "runtime/session/loop.h"

namespace dj {
namespace {

// What the target says of it: its functions, lines and variables. A target that is not to be had is
// a warning, as the script may be right.
void check_against(LazyTarget& target, const Options& options, const ast::Script& script,
                   CheckOptions checking, TargetFiles files, Program& program, Diags& diags) {
  const std::optional<TracedProcess>& process = target.find().value();
  for (Probe& probe : program.probes)
    take_process_numbers(probe.points, process ? process->pid : 0, diags);
  Plan plan = resolve(program, files, diags);
  warn_of_many(program, plan, options.many, diags);
  if (!diags.ok()) return;
  checking.doubles = settle_doubles(program, plan);
  Diags again;  // warnings are the same
  if (!checking.doubles.empty()) check(script, checking, again);
  if (!again.ok()) diags = std::move(again);
}

void warn_of_missing(const Error& error, Diags& diags) {
  diags.warning(attach_code(error.kind), {}, error.message + ": what it has is not checked")
      .no_span = true;
}

}  // namespace

void check_script(const Options& options, Sources& sources, uint32_t file, Diags& diags) {
  const HeldSignals held;
  LazyTarget target(options, held.before());
  TypePrinters printers;
  TapsetLibrary library(sources, tapset_folders(options.include),
                        run_lua_tapsets(sources, [&] { return target.index(); }, printers));
  ScriptOptions script_options{options.script_options, options.own_names, {}};
  const ParseOptions parsing{options.script_args,
                             [&](const std::string& macro) { return library.macro_file(macro); },
                             &script_options};
  ast::Script script = parse(sources, file, parsing, diags);
  if (diags.ok()) library.complete(script, diags);
  if (diags.ok()) expand(options, script, sources, diags);
  if (!diags.ok()) return;
  CheckOptions checking = {options.strict || sources.files.at(file).name.ends_with(".stp")};
  Program program = check(script, checking, diags);
  if (!diags.ok() || (options.command.empty() && !options.pid)) return;
  if (!target.find().ok()) return warn_of_missing(target.find().error(), diags);
  TargetFiles files = target_files(target.find().value(), &printers);
  files.compile_headers = header_compiler(held.before());
  check_against(target, options, script, checking, std::move(files), program, diags);
}

}  // namespace dj
