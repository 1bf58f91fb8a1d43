// SPDX-License-Identifier: Apache-2.0
// The stages from the text to the detours once more. Up to arm() nothing is changed that undoing
// does not put back.
#include "runtime/run/added_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/counted.h"
#include "compiler/check/arming.h"
#include "compiler/check/grown_program.h"
#include "compiler/resolve/double_targets.h"
#include "compiler/resolve/meant_target.h"
#include "compiler/resolve/pointers.h"
#include "compiler/resolve/process_number.h"
#include "compiler/stages/samples.h"
#include "runtime/process/loader_cache.h"
#include "runtime/run/rejoin.h"
#include "runtime/run/target.h"

namespace dj {
namespace {

std::string rendered(const Diags& diags, const Sources& sources) {
  std::string text;
  for (const Diag& diag : diags.all()) text += render(diag, sources, false);
  return text;
}

// Rows for the probes that are added, in front of that of all functions.
DoubleTargets with_rows(DoubleTargets doubles, size_t probes) {
  if (!doubles.empty()) doubles.insert(doubles.end() - 1, probes + 1 - doubles.size(), {});
  return doubles;
}

// What is a double by either.
DoubleTargets merged(DoubleTargets one, const DoubleTargets& other) {
  if (one.empty()) return other;
  for (size_t row = 0; row < other.size(); ++row) {
    one[row].resize(std::max(one[row].size(), other[row].size()));
    for (size_t i = 0; i < other[row].size(); ++i) one[row][i] = one[row][i] || other[row][i];
  }
  return one;
}

void refuse_kinds(const Program& program, ProbeId first, Diags& diags) {
  for (ProbeId id = first; id < program.probes.size(); ++id) {
    for (const ast::ProbePoint& point : program.probes[id].points) {
      const std::string& name = point.components.front().name;
      const char* const what = names_kernel(point) ? "of the kernel"
                               : is_profile(point) ? "that sample"
                               : name == "input"   ? "of djtap's input"
                                                   : nullptr;
      if (what == nullptr) continue;
      Diag& diag = diags.error("DJ2037", point.span,
                               fmt::format("probes {} cannot be added to a running session", what));
      diag.help = "begin a session with it";
    }
  }
}

// djtap follows the arming conditions that only handlers of its own can change.
void check_armings(const Program& now, Program next, Diags& diags, size_t armings) {
  const size_t known = script_probes(now);
  const auto still = std::ranges::count_if(
      add_arming_tests(next), [known](const Arming& arming) { return arming.probe < known; });
  if (static_cast<size_t>(still) >= armings) return;
  Diag& diag = diags.error(
      "DJ2036", next.probes[known].span,
      "an added probe sets a global that arms a probe of the running session (`if (...)`)");
  diag.help = "use a global of another name in the probes that are added";
}

std::vector<int> living(const Session& session) {
  std::vector<int> pids;
  for (const auto& target : session.targets()) {
    if (!target->has_ended()) pids.push_back(target->pid());
  }
  return pids;
}

}  // namespace

// Looks up what the new probes mean, in one process after the other until one has it all. False:
// some target variables are doubles that were not known as such, so `next` is to be checked again;
// or there are mistakes.
bool AddedProbes::settle(Program& next, ProbeId first, DoubleTargets& doubles, Diags& diags) const {
  Compiled& compiled = prepared_.compiled;
  std::optional<Diags> said;
  Plan plan;
  const PointsTaken others_taken(next, first);
  for (const auto& target : session_.targets()) {
    if (target->has_ended()) continue;
    TargetFiles files = files_of_process(target->objects());
    files.helpers = compiled.helpers;
    files.may_execute = prepared_.target.follows_execs || prepared_.target.is_everywhere();
    files.find_library = find_library;
    Diags here;
    plan = resolve(next, files, here, compiled.own.follows_calls);
    const bool is_found = here.ok();
    if (is_found || !said) said = std::move(here);
    if (is_found) break;
  }
  if (!said) return true;  // they have just ended
  for (const Diag& diag : said->all()) diags.add(diag);
  if (!diags.ok()) return false;
  compiled.plan.awaits_objects = compiled.plan.awaits_objects || plan.awaits_objects;
  const DoubleTargets more = settle_doubles(next, plan);
  mark_pointers(next, plan);
  if (more.empty()) return true;
  doubles = merged(std::move(doubles), more);
  return false;
}

// The script with what was added, as far as it can be checked without the processes.
Program AddedProbes::check(ProbeId first, const DoubleTargets& doubles, Diags& diags) const {
  Program next = prepared_.growth.check_all(doubles, diags);
  if (!diags.ok()) return next;
  refuse_kinds(next, first, diags);
  for (ProbeId id = first; id < next.probes.size(); ++id)
    take_process_numbers(next.probes[id].points, prepared_.target.pid(),
                         !prepared_.target.more_pids.empty(), diags);
  return next;
}

// Puts the probes of the text into the session's program.
Status AddedProbes::compile(const std::string& text, Diags& diags, ProbeId& first) {
  const Error mistakes = {"the script is not added"};
  ScriptGrowth& growth = prepared_.growth;
  Compiled& compiled = prepared_.compiled;
  growth.add(text, diags);
  if (!diags.ok()) return mistakes;
  const size_t probes = growth.script().probes.size();
  const auto known = static_cast<ProbeId>(script_probes(compiled.program));
  if (probes <= known) return Error{"the script has no probe"};
  DoubleTargets doubles = with_rows(compiled.own.doubles, probes);
  Program next = check(known, doubles, diags);
  Diags again;  // says the same, if there are no mistakes
  if (diags.ok() && !settle(next, known, doubles, diags) && diags.ok()) {
    next = check(known, doubles, again);
    if (again.ok()) settle(next, known, doubles, again);
    if (!again.ok()) diags = std::move(again);
  }
  const size_t armings = compiled.own.armings.size();
  if (diags.ok() && armings > 0)
    check_armings(compiled.program, growth.check_all(doubles, again), diags, armings);
  if (diags.ok()) first = add_probes(compiled.program, std::move(next), diags);
  if (!diags.ok()) return mistakes;
  compiled.own.doubles = std::move(doubles);
  return ok_status();
}

Status AddedProbes::add_memory(size_t first_global) {
  Compiled& compiled = prepared_.compiled;
  const size_t first_text = compiled.layout.strings.texts.size();
  DJ_TRY_DO(lay_out_more(compiled.program, compiled.layout));
  return session_.add_globals(compiled.program, first_global, first_text);
}

// Handlers of begin, end and timer probes. What the others mean is looked up in each program.
Status AddedProbes::lower_hosts(ProbeId first) {
  Compiled& compiled = prepared_.compiled;
  Diags silent;
  Plan plan;
  {
    const PointsTaken others_taken(compiled.program, first);
    plan = resolve(compiled.program, {}, silent);
  }
  if (plan.host_probes.empty()) return ok_status();
  plan.sites.clear();
  plan.loader_site.reset();
  DJ_TRY(const FurtherPlan further, plans_.compile(std::move(plan), {}, compiled.facts.has_rseq));
  DJ_TRY_DO(session_.add_hosts(further.plan, further.code->image));
  for (HostProbe host : further.plan.host_probes) {
    host.handler += further.plan.first_handler;
    compiled.plan.added_hosts.push_back(std::move(host));
  }
  return ok_status();
}

// Threads that wait for djtap are in code that is to go.
void AddedProbes::serve() {
  if (further_.execs != nullptr) further_.execs->poll();
  further_.objects.poll();
}

std::string AddedProbes::arm(ProbeId first, size_t first_host) {
  const Compiled& compiled = prepared_.compiled;
  drain_.take_more();
  further_.processes.forget_plans();
  host_probes_.run_added(first_host, living(session_));
  const std::vector<std::string> failures =
      rejoin_all(session_, further_.processes, [this] { serve(); });
  std::map<int, size_t> places;
  for (const InstalledSite& site : session_.sites()) {
    const bool is_new = std::ranges::any_of(
        site.handlers, [first](const InstalledHandler& each) { return each.probe >= first; });
    const bool is_armed = site.state == SiteState::Optimized || site.state == SiteState::Int3;
    if (is_new && is_armed) ++places[site.pid];
  }
  const bool has_hosts = compiled.plan.added_hosts.size() > first_host;
  std::string text =
      places.empty() && !has_hosts ? "no place in the processes that run is probed now\n" : "";
  for (const auto& [pid, count] : places) {
    const int number = pid != 0 ? pid : session_.target()->pid();
    text += fmt::format("{} in process {}\n", counted(count, "place"), number);
  }
  for (const std::string& failure : failures) text += fmt::format("not probed anew: {}\n", failure);
  return text;
}

ControlSocket::Answer AddedProbes::add(const std::string& text) {
  Compiled& compiled = prepared_.compiled;
  if (!prepared_.target.process) return {"", Error{"the session has no process"}};
  if (living(session_).empty()) return {"", Error{"all processes of the session have ended"}};
  const ProgramSize size = size_of(compiled.program);
  const Layout layout = compiled.layout;
  const size_t first_host = compiled.plan.added_hosts.size();
  Diags diags;
  ProbeId first = 0;
  Status done = compile(text, diags, first);
  if (done.ok()) done = add_memory(size.globals);
  if (done.ok()) done = lower_hosts(first);
  const std::string said = rendered(diags, prepared_.sources);
  if (!done.ok()) {
    shrink(compiled.program, size);
    compiled.layout = layout;
    prepared_.growth.undo();
    return {said, done};
  }
  return {said + arm(first, first_host)};
}

}  // namespace dj
