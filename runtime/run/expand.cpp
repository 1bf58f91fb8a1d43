// SPDX-License-Identifier: Apache-2.0
// The steps between the tree that was written and the one that is checked.
#include "runtime/run/expand.h"

#include <limits>
#include <map>
#include <vector>

#include "compiler/check/settings.h"
#include "compiler/resolve/probe_kind.h"
#include "compiler/tapset/aliases.h"
#include "compiler/tapset/latency.h"
#include "compiler/tapset/limited_points.h"
#include "compiler/tapset/script_words.h"
#include "runtime/process/pid_space.h"

namespace dj {

namespace {

// What pid() is in the handlers of each.
std::map<int64_t, int64_t> numbers_in_handlers(const std::vector<int>& pids) {
  std::map<int64_t, int64_t> own;
  for (const int pid : pids) own[pid] = own_numbers(pid).pid;
  return own;
}

}  // namespace

void expand_added(const TargetChoices& target, const ScriptChoices& choices, ast::Script& script,
                  Sources& sources, Diags& diags) {
  expand_aliases(script, points_meant, diags);
  if (diags.ok()) expand_latency(script, sources, diags);
  if (diags.ok()) limit_to_processes(script, numbers_in_handlers(target.pids));
  if (diags.ok()) limit_to_system_calls(script);
  if (diags.ok()) add_script_words(script, choices.arguments, sources, diags);
}

void take_named_processes(ast::Script& script, bool may_be_many, TargetChoices& target) {
  const std::vector<int64_t> numbers = processes_named_alone(script);
  if (target.is_given() || (numbers.size() > 1 && !may_be_many)) return;
  for (const int64_t number : numbers) {
    if (number > 0 && number <= std::numeric_limits<int>::max())
      target.pids.push_back(static_cast<int>(number));
  }
  if (target.pids.empty()) return;
  target.follow = false;
  target.is_by_script = true;
  limit_to_processes(script, numbers_in_handlers(target.pids));
}

void expand(const ScriptChoices& choices, const TargetChoices& target, ast::Script& script,
            Sources& sources, Diags& diags) {
  expand_added(target, choices, script, sources, diags);
  // Last, as names of the arguments, argc and argv_1, and of tapsets can be set, too.
  if (diags.ok()) set_globals(script, choices.settings, sources, diags);
}

}  // namespace dj
