// SPDX-License-Identifier: Apache-2.0
// The stages once more, for some objects: resolve, lower, and into the session.
#include "runtime/run/dlopened_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "compiler/resolve/resolve.h"
#include "runtime/output/messages.h"
#include "runtime/process/os_error.h"
#include "runtime/session/report.h"
#include "runtime/target/report_sites.h"

namespace dj {
namespace {

TargetFiles files_of(const DlopenedObjects& objects, const Compiled& compiled) {
  TargetFiles files;
  files.helpers = compiled.helpers;
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

// One that ends meanwhile is no error.
void DlopenWatch::look() {
  const Targets& targets = session_.targets();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets.size() == 1 || !targets[i]->has_ended()) look(*targets[i]);
  }
}

void DlopenWatch::look(Target& target) {
  const Status done = is_on() ? probe_new_objects(target) : ok_status();
  if (!done.ok() && !target.has_ended())
    report_undone(
        fmt::format("objects that the target opened are not probed: {}", done.error().message));
}

bool DlopenWatch::poll() {
  std::optional<uint32_t> event = is_on() ? session_.target()->objects_event() : std::nullopt;
  if (!event) return false;
  session_.let_wait(true);  // it has given up where djtap was stopped for long
  look();
  // What ends the session must not run before it has ended; then nobody waits any more.
  if (!session_.why_over().empty()) return true;
  session_.end_one();
  for (const auto& target : session_.targets()) target->answer_objects(*event);
  return true;
}

Status DlopenWatch::probe_new_objects(Target& target) {
  Result<DlopenedObjects> found = target.find_objects();
  if (!found.ok() && found.error().kind == Fail::NotFound) return ok_status();  // it has ended
  DJ_TRY(DlopenedObjects objects, std::move(found));
  target.know(objects);
  name_stacks(target, objects);
  joined_.note_opened(std::span(objects.modules).subspan(objects.first_new));
  if (objects.first_new == objects.modules.size() || !target.why_over().empty()) return ok_status();
  Diags silent;  // points that mean nothing here were reported when the session began, if at all
  Plan plan =
      resolve(compiled_.program, files_of(objects, compiled_), silent, compiled_.own.follows_calls);
  if (plan.sites.empty() && !target.watches_objects()) return ok_status();
  return arm(target, objects, std::move(plan));
}

// Before any of their code runs, stacks lead through it and it has names.
void DlopenWatch::name_stacks(const Target& target, const DlopenedObjects& objects) {
  StackTables* const stacks =
      &target == session_.target() ? compiled_.stacks_or_null() : joined_.stacks_of(target);
  if (stacks == nullptr) return;
  const Status done = stacks->follow(objects.modules, session_.stack_room(target));
  if (!done.ok()) report_undone(done.error().message);
  if (&target != session_.target()) compiled_.stacks->add_elsewhere(objects.modules);
}

Status DlopenWatch::arm(Target& target, const DlopenedObjects& objects, Plan plan) {
  const uint64_t begin = now_ns();
  DJ_TRY(FurtherPlan further,
         plans_.compile(std::move(plan), objects.modules, target.facts().has_rseq));
  DetourPlan detours = plans_.detours({further.plan, further.code->image, further.code->abis},
                                      objects.modules, target.facts(), objects.first_new);
  DJ_TRY_DO(session_.add_dlopened(target, {further.code->image, detours}));
  const std::vector<InstalledSite> sites = target.latest_sites();
  if (stages_.probes) report_sites(sites);
  if (names_skipped_) warn_skipped_sites(sites);
  warn_unraised(target);
  if (stages_.verbose > 0)
    log_line("djtap: {} opened: {} in {:.1f} ms{}",
             counted(objects.modules.size() - objects.first_new, "object"),
             counted(sites.size(), "site"), static_cast<double>(now_ns() - begin) / 1e6,
             further.is_shared || further.code->image.is_cached ? ", handlers kept" : "");
  return ok_status();
}

}  // namespace dj
