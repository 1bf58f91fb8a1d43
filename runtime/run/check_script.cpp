// SPDX-License-Identifier: Apache-2.0
// A start of djtap as far as the check; with a target, as far as the places of probes.
#include "runtime/run/check_script.h"

#include "compiler/check/check.h"
#include "compiler/parse/parse.h"
#include "compiler/resolve/double_targets.h"
#include "compiler/resolve/many_places.h"
#include "compiler/resolve/process_number.h"
#include "compiler/resolve/resolve.h"
#include "runtime/output/messages.h"
#include "runtime/run/expand.h"
#include "runtime/run/header_types.h"
#include "runtime/run/lazy_target.h"
#include "runtime/run/tapset_library.h"
#include "runtime/session/loop.h"

namespace dj {
namespace {

// What the target says of it: its functions, lines and variables. A target that is not to be had is
// a warning, as the script may be right.
void check_against(const TargetFiles& files, size_t many, const ast::Script& script,
                   CheckOptions checking, Program& program, Diags& diags) {
  Plan plan = resolve(program, files, diags);
  warn_of_many(program, plan, many, diags);
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

void check_script(const ScriptChoices& choices, const TargetChoices& wanted, size_t many,
                  Sources& sources, uint32_t file, Diags& diags) {
  const HeldSignals held;
  LazyTarget target(wanted, TargetUse::Probe, held.before());
  TypePrinters printers;
  TapsetLibrary library = tapset_library(choices.tapsets, sources, target, printers);
  ScriptOptions script_options{choices.named, choices.own_names, {}};
  const ParseOptions parsing{choices.arguments,
                             [&](const std::string& macro) { return library.macro_file(macro); },
                             &script_options};
  ast::Script script = parse(sources, file, parsing, diags);
  if (diags.ok()) library.complete(script, diags);
  if (diags.ok()) expand(choices, wanted, script, sources, diags);
  if (!diags.ok()) return;
  CheckOptions checking = {choices.strict || sources.files.at(file).name.ends_with(".stp")};
  Program program = check(script, checking, diags);
  if (!diags.ok() || !wanted.is_given()) return;
  const MeantTarget meant = meant_target(program, wanted, diags);
  if (!diags.ok()) return;
  const Result<FoundTarget>& found = target.find(meant);
  if (!found.ok()) return warn_of_missing(found.error(), diags);
  for (Probe& probe : program.probes)
    take_process_numbers(probe.points, found.value().pid(), !found.value().more_pids.empty(),
                         diags);
  TargetFiles files = target_files(found.value());
  files.helpers.printers = &printers;
  files.helpers.compile_headers = header_compiler(held.before());
  check_against(files, many, script, checking, program, diags);
}

}  // namespace dj
