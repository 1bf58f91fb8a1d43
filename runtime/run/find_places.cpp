// SPDX-License-Identifier: Apache-2.0
// resolve(), or what it said the last time.
#include "runtime/run/find_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "compiler/base/huge_heap.h"
#include "compiler/check/arming.h"
#include "compiler/check/check.h"
#include "compiler/check/time_probes.h"
#include "compiler/resolve/double_targets.h"
#include "compiler/resolve/plan_cache.h"
#include "compiler/resolve/pointers.h"
#include "compiler/resolve/process_number.h"
#include "compiler/resolve/resolve.h"
#include "compiler/stages/debug_servers.h"
#include "runtime/output/messages.h"
#include "runtime/output/progress.h"
#include "runtime/process/loader_cache.h"
#include "runtime/run/target.h"

namespace dj {
namespace {

// The object where most of it is found: the largest one that may be meant. Null: few places are.
const MappedModule* richest(const Program& program, const std::vector<MappedModule>& modules) {
  const Wildcards meant = wildcards_of(program);
  const auto poorer = [&](const MappedModule& a, const MappedModule& b) {
    const bool executable = meant == Wildcards::OfExecutable;
    return executable && a.is_executable_file != b.is_executable_file
               ? b.is_executable_file
               : a.end - a.begin < b.end - b.begin;
  };
  const auto most = std::max_element(modules.begin(), modules.end(), poorer);
  return meant == Wildcards::None || most == modules.end() ? nullptr : &*most;
}

// What a session that probes all functions of this object needs, about.
size_t heap_bytes(const MappedModule& module) {
  constexpr size_t kOfCode = 5;  // times the bytes of its code
  size_t text = 0;
  for (const AddressRange& range : module.text) text += range.end - range.begin;
  return kOfCode * text;
}

// Reads the object's code while it is looked for what is probed.
void prepare_for(const Program& program, const MappedModule& module, ModuleCodes& codes) {
  codes.read_ahead(module);
  if (means_every_function(program)) fill_huge_heap(heap_bytes(module));
}

// The kept plan; empty: there is none.
std::optional<Plan> find_kept(const ModuleCodes& codes, const std::string& name,
                              const std::string& key) {
  constexpr size_t kOfPlan = 16;  // times the bytes of a plan are used in its session
  if (key.empty()) return std::nullopt;
  const std::optional<CachedBytes> kept = codes.file_cache().load(name, key);
  if (!kept) return std::nullopt;
  fill_huge_heap(kOfPlan * kept->bytes.size());
  return unpack_plan(kept->bytes);
}

}  // namespace

void add_own(const ReportChoices& report, Compiled& compiled) {
  compiled.own.follows_calls = report.calls;
  if (report.times) compiled.own.timed = time_probes(compiled.program, report.by_process);
  compiled.own.armings = add_arming_tests(compiled.program);
}

Plan find_places(Compiled& compiled, const FoundTarget& target, ModuleCodes& codes, Diags& diags,
                 StageClock& clock) {
  for (Probe& probe : compiled.program.probes)
    take_process_numbers(probe.points, target.pid(), !target.more_pids.empty(), diags);
  TargetFiles files = target_files(target);
  files.helpers = compiled.helpers;
  files.may_execute = target.follows_execs || target.is_everywhere();
  files.find_library = find_library;
  const bool keeps = codes.file_cache().keeps();
  const bool asks = may_ask_debug_servers();
  const bool follows_calls = compiled.own.follows_calls;
  const std::string key = keeps ? plan_key(compiled.program, files, follows_calls, asks) : "";
  const std::string name = "plan-" + short_name(key);
  std::optional<Plan> plan = find_kept(codes, name, key);
  const bool is_cached = plan.has_value();
  if (!is_cached) {
    if (const MappedModule* module = richest(compiled.program, target.modules()))
      prepare_for(compiled.program, *module, codes);
    const size_t said = diags.all().size();
    plan = with_progress("finding what is to be probed",
                         [&] { return resolve(compiled.program, files, diags, follows_calls); });
    const bool is_final = diags.all().size() == said && !debug_servers_lacked();
    std::string packed = key.empty() || !is_final ? "" : pack_plan(*plan);
    if (!packed.empty()) codes.plan_key = key;
    codes.keep(name, key, std::move(packed));
  } else {
    codes.plan_key = key;
  }
  plan->is_everywhere = target.everywhere && !target.everywhere->every;
  plan->awaits_processes =
      target.follows_execs || target.is_everywhere() || !target.more_pids.empty();
  clock.done("resolve",
             fmt::format("{}{}", counted(plan->sites.size(), "site"), is_cached ? ", kept" : ""));
  return std::move(*plan);
}

// What is added is armed as in a process that joins.
void await_additions(const FoundTarget& target, Plan& plan) {
  plan.awaits_additions = target.process.has_value();
  plan.awaits_processes = plan.awaits_processes || plan.awaits_additions;
}

bool settle_types(const ast::Script& script, bool strict, const Sources& sources,
                  const ReportChoices& report, Compiled& compiled) {
  const DoubleTargets& doubles = compiled.own.doubles =
      settle_doubles(compiled.program, compiled.plan);
  if (!doubles.empty()) {
    Diags diags;  // warnings were printed the first time
    compiled.program = check(script, {strict, doubles}, diags);
    if (!diags.ok()) return report_all(diags, sources), false;
    add_own(report, compiled);
  }
  mark_pointers(compiled.program, compiled.plan);
  return true;
}

}  // namespace dj
