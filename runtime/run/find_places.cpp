// resolve(), or what it said the last time.
#include "runtime/run/find_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "compiler/check/arming.h"
#include "compiler/check/check.h"
#include "compiler/check/time_probes.h"
#include "compiler/resolve/double_targets.h"
#include "compiler/resolve/kept_plan.h"
#include "compiler/resolve/many_places.h"
#include "compiler/resolve/pointers.h"
#include "compiler/resolve/process_number.h"
#include "compiler/resolve/resolve.h"
#include "runtime/output/progress.h"
#include "runtime/run/say.h"
#include "runtime/run/target.h"

namespace dj {
namespace {

// Reads the largest object's code while it is looked for what is probed.
void read_ahead(const TracedProcess& process, ModuleCodes& codes) {
  const auto smaller = [](const MappedModule& a, const MappedModule& b) {
    return a.end - a.begin < b.end - b.begin;
  };
  const auto largest = std::max_element(process.modules.begin(), process.modules.end(), smaller);
  if (largest != process.modules.end()) codes.read_ahead(*largest);
}

}  // namespace

void add_own(const Options& options, Compiled& compiled) {
  compiled.shown_globals = compiled.program.globals.size();
  if (options.times) compiled.times = time_probes(compiled.program);
  compiled.armings = add_arming_tests(compiled.program);
}

Plan find_places(const Options& options, Compiled& compiled,
                 const std::optional<TracedProcess>& process, ModuleCodes& codes, Diags& diags,
                 StageClock& clock) {
  for (Probe& probe : compiled.program.probes)
    take_process_numbers(probe.points, process ? process->pid : 0, diags);
  TargetFiles files = target_files(process, compiled.printers);
  files.compile_headers = compiled.compile_headers;
  const bool keeps = codes.kept_files().keeps();
  const std::string key = keeps ? plan_key(compiled.program, files, options.times) : "";
  const std::string name = "plan-" + short_name(key);
  std::optional<Plan> plan;
  if (!key.empty()) {
    if (std::optional<KeptBytes> kept = codes.kept_files().load(name, key))
      plan = unpack_plan(kept->bytes);
  }
  const bool is_kept = plan.has_value();
  if (!is_kept) {
    if (process && means_all_objects(compiled.program)) read_ahead(*process, codes);
    const size_t said = diags.all().size();
    plan = with_progress("finding what is to be probed",
                         [&] { return resolve(compiled.program, files, diags, options.times); });
    std::string packed = key.empty() || diags.all().size() != said ? "" : pack_plan(*plan);
    if (!packed.empty()) codes.plan_key = key;
    codes.keep(name, key, std::move(packed));
  } else {
    codes.plan_key = key;
  }
  if (!options.stress) warn_of_many(compiled.program, *plan, options.many, diags);
  clock.done("resolve",
             fmt::format("{}{}", counted(plan->sites.size(), "site"), is_kept ? ", kept" : ""));
  return std::move(*plan);
}

bool settle_types(const Options& options, const Sources& sources, const ast::Script& script,
                  Compiled& compiled) {
  DoubleTargets doubles = settle_doubles(compiled.program, compiled.plan);
  if (!doubles.empty()) {
    Diags diags;  // warnings were printed the first time
    compiled.program = check(script, {options.strict, doubles}, diags);
    if (!diags.ok()) return print_diags(diags, sources, options), false;
    add_own(options, compiled);
  }
  mark_pointers(compiled.program, compiled.plan);
  return true;
}

}  // namespace dj
