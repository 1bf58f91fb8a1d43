// SPDX-License-Identifier: Apache-2.0
// The stages once more, for some objects: resolve, lower, and into the session.
#include "runtime/run/dlopened_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "compiler/resolve/resolve.h"
#include "compiler/stages/result_use.h"
#include "runtime/output/messages.h"
#include "runtime/patch/patch_cache.h"
#include "runtime/patch/tail_calls.h"
#include "runtime/process/os_error.h"
#include "runtime/run/handler_cache.h"
#include "runtime/session/report.h"
#include "runtime/target/report_sites.h"

namespace dj {
namespace {

TargetFiles files_of(const DlopenedObjects& objects, const Compiled& compiled) {
  TargetFiles files;
  files.printers = compiled.types.printers;
  files.compile_headers = compiled.types.compile_headers;
  files.has_target = true;
  // The executable is the first: it was there before.
  std::vector<const MappedModule*> order;
  for (size_t i = 0; i < objects.modules.size(); i++) {
    const MappedModule& module = objects.modules[i];
    if (i == objects.first_new) files.first_new = order.size();
    if (module.is_vdso) continue;
    order.insert(module.is_executable_file ? order.begin() : order.end(), &module);
  }
  for (const MappedModule* module : order) {
    files.mapped.push_back({files.modules.size(), module->begin, module->end, module->bias});
    files.modules.push_back(module->path);
    files.open_paths.push_back(module->open_path);
  }
  return files;
}

}  // namespace

void DlopenWatch::look() {
  Status done = is_on() ? probe_new_objects() : ok_status();
  if (!done.ok())
    report_undone(
        fmt::format("objects that the target opened are not probed: {}", done.error().message));
}

bool DlopenWatch::poll() {
  std::optional<uint32_t> event = is_on() ? session_.target()->objects_event() : std::nullopt;
  if (!event) return false;
  session_.let_wait(true);  // it has given up where djtap was stopped for long
  look();
  // What ends the session must not run before it has ended; then nobody waits any more.
  if (session_.why_over().empty()) session_.target()->answer_objects(*event);
  return true;
}

Status DlopenWatch::probe_new_objects() {
  Target& target = *session_.target();
  Result<DlopenedObjects> found = target.find_objects();
  if (!found.ok() && found.error().kind == Fail::NotFound) return ok_status();  // it has ended
  DJ_TRY(DlopenedObjects objects, std::move(found));
  target.know(objects);
  name_stacks(objects);
  if (objects.first_new == objects.modules.size() || !session_.why_over().empty())
    return ok_status();
  Diags silent;  // points that mean nothing here were reported when the session began, if at all
  Plan plan =
      resolve(compiled_.program, files_of(objects, compiled_), silent, compiled_.own.follows_calls);
  if (plan.sites.empty() && !target.watches_objects()) return ok_status();
  return arm(objects, plan);
}

// Before any of their code runs, stacks lead through it and it has names.
void DlopenWatch::name_stacks(const DlopenedObjects& objects) {
  if (!compiled_.stacks) return;
  const abi::Header& header = session_.header();
  auto* begin = reinterpret_cast<uint8_t*>(header.stack_tables.get(abi::arena_of(&header)));
  const Status done = compiled_.stacks->follow(objects.modules, {begin, compiled_.stacks->room()});
  if (!done.ok()) report_undone(done.error().message);
}

Status DlopenWatch::arm(const DlopenedObjects& objects, Plan& plan) {
  const uint64_t begin = now_ns();
  const Plan& first = compiled_.plan;
  plan.first_site =
      static_cast<SiteId>(first.sites.size() + first.host_probes.size() + first.dlopened.size());
  next_handler_ = std::max(next_handler_, static_cast<HandlerId>(first.handlers.size()));
  plan.first_handler = next_handler_;
  EmitOptions emit;
  emit.abi.has_rseq = compiled_.facts.has_rseq;
  emit.spans = compiled_.image.spans;
  const ObjectCache kept = handler_cache(codes_);
  emit.kept = &kept;
  std::vector<HandlerAbi> abis;
  find_exits(plan, objects.modules, compiled_.facts.keeps_calls, codes_);
  DJ_TRY(Image image, lower(compiled_.program, plan, compiled_.layout, emit, abis));
  const PatchOptions& patching = compiled_.patching;
  Target& target = *session_.target();
  PatchPlan patches = find_patches({.plan = plan,
                                    .modules = objects.modules,
                                    .options = patching,
                                    .facts = target.facts(),
                                    .first_module = objects.first_new,
                                    .counting = counting_handlers(abis, patching)},
                                   codes_);
  DetourPlan detours = plan_detours(std::move(patches),
                                    {.plan = plan,
                                     .abis = abis,
                                     .modules = objects.modules,
                                     .first_module = objects.first_new,
                                     .code_bytes = link_bytes(image),
                                     .switched = patching.switched},
                                    codes_.file_cache());
  DJ_TRY_DO(session_.add_dlopened({plan, image, detours}));
  compiled_.image.spans = image.spans;
  compiled_.plan.dlopened.insert(compiled_.plan.dlopened.end(), plan.sites.begin(),
                                 plan.sites.end());
  next_handler_ += static_cast<HandlerId>(plan.handlers.size());
  const std::vector<std::optional<ProbeId>> calls = probes_of_calls(plan);
  compiled_.plan.dlopened_calls.insert(compiled_.plan.dlopened_calls.end(), calls.begin(),
                                       calls.end());
  const std::vector<InstalledSite> sites = target.latest_sites();
  if (stages_.probes) report_sites(sites);
  if (names_skipped_) warn_skipped_sites(sites);
  warn_unraised(target);
  if (stages_.verbose > 0)
    log_line("djtap: {} opened: {} in {:.1f} ms{}",
             counted(objects.modules.size() - objects.first_new, "object"),
             counted(sites.size(), "site"), static_cast<double>(now_ns() - begin) / 1e6,
             image.is_cached ? ", handlers kept" : "");
  return ok_status();
}

}  // namespace dj
