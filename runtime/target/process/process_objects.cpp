// SPDX-License-Identifier: Apache-2.0
// Objects that a process opens during the session: seeing them, probing them, and the talk with the
// process's loader, which waits meanwhile.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>
#include <utility>

#include "runtime/patch/hooks.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/running_memory.h"
#include "runtime/shared/atomic.h"
#include "runtime/target/process/process_target.h"
#include "runtime/text/journal.h"

namespace dj {
namespace {

void wake_all(uint64_t word) {
  syscall(SYS_futex, reinterpret_cast<void*>(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void add_fresh(DlopenedObjects& objects, const MappedModule& module) {
  objects.modules.push_back(module);
  objects.modules.back().awaits_relocation = has_text_relocations(module.open_path);
}

DlopenedObjects with_more(const std::vector<MappedModule>& known,
                          const std::vector<MappedModule>& more) {
  DlopenedObjects objects{known, known.size()};
  for (const MappedModule& module : more) add_fresh(objects, module);
  return objects;
}

}  // namespace

std::optional<uint32_t> ProcessTarget::objects_event() const {
  const uint32_t events = words().loader_events();
  return events == objects_.answered ? std::nullopt : std::optional(events);
}

void ProcessTarget::answer_objects(uint32_t event) {
  objects_.answered = event;
  words().answer_loader(event);
  wake_all(words().loader_futex());
}

// From here on the loader does not wait.
void ProcessTarget::close_loader_talk() {
  words().set_loader_awaits(abi::kNobody);
  answer_objects(words().loader_events());
}

void ProcessTarget::let_wait(bool waits) {
  words().set_loader_awaits(waits ? abi::kAwaited : abi::kNotAwaited);
  wake_all(words().loader_futex());
}

Result<DlopenedObjects> ProcessTarget::find_objects() {
  // Between two events that follow each other the loader maps, or unmaps, or neither.
  const bool is_next = words().loader_events() == objects_.answered + 1;
  if (is_next && objects_.watch.has_as_much_code())
    return DlopenedObjects{objects_.known, objects_.known.size()};
  if (is_next && !input_.writable_text) {
    if (auto more = objects_.watch.look_below()) return with_more(objects_.known, *more);
  }
  DJ_TRY_DO(objects_.watch.look());
  std::vector<MappedModule> trusted;
  if (input_.writable_text) {
    trusted = objects_.watch.modules();
    trust_writable(trusted);
  }
  const std::vector<MappedModule>& now = input_.writable_text ? trusted : objects_.watch.modules();
  const RunningMemory memory(process_.pid);
  std::set<uint64_t> gone;
  for (ProbeSet& set : sets_) gone.merge(set.installation.find_gone_sites(memory, now));
  DlopenedObjects found;
  std::set<std::pair<uint64_t, std::string_view>> old;
  for (const MappedModule& module : objects_.known) {
    if (!is_mapped(module, now) || gone.contains(module.begin)) continue;
    found.modules.push_back(module);
    old.emplace(module.begin, module.path);
  }
  found.first_new = found.modules.size();
  for (const MappedModule& module : now) {
    if (old.contains({module.begin, module.path})) continue;
    add_fresh(found, module);
  }
  return found;
}

void ProcessTarget::know(const DlopenedObjects& objects) {
  objects_.known = objects.modules;
  if (threads_.has_rows)
    objects_.gs_base_setter = gs_base_setter(objects.modules, objects.first_new, codes_);
}

Result<Stopped> ProcessTarget::stop_target() {
  DJ_TRY(Stopped now, Stopped::stop(process_.pid));
  DJ_TRY_DO(check_in_target(now));
  return now;
}

Result<CodeAreas> ProcessTarget::map_dlopened(DetourPlan& plan) {
  Installation made = Installation::prepare(plan, objects_.known, traps(), process_.pid, codes_);
  if (!threads_.has_rows) plan.count_by_calls();
  const MemoryRequest request = {plan.area_modules(), plan.area_bytes(), made.journal_bytes(plan),
                                 plan.stub_chooser()};
  DJ_TRY(Stopped stopped, stop_target());
  DJ_TRY(SessionMemory memory,
         SessionMemory::create_more(stopped, header_.arena_base, request, objects_.maps));
  stopped.release();  // nobody but the loader need wait while code is linked
  sets_.push_back({std::move(memory), std::move(made)});
  objects_.watch.take_for_known();  // the loader waits, or has given up and is looked at anew
  return sets_.back().memory.take_code();
}

Status ProcessTarget::arm_dlopened() {
  ProbeSet& set = sets_.back();
  set.installation.copy_ahead(process_.pid, set.installation.detours().plan, false);
  DJ_TRY_DO(set.installation.ready());
  DJ_TRY(Stopped stopped, stop_target());
  DJ_TRY_DO(set.installation.arm(stopped));
  return raise(stopped, set.installation.detours());
}

// What may still be in the text restore() takes out.
void ProcessTarget::abandon_dlopened() {
  ProbeSet& set = sets_.back();
  if (set.installation.is_in_text()) return;
  Journal(set.memory.journal()).finish(process_.pid);
  spent_.push_back(std::move(set));
  sets_.pop_back();
}

}  // namespace dj
