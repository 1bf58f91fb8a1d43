// SPDX-License-Identifier: Apache-2.0
// Objects that the target opens during the session: seeing them, probing them, and the talk with
// the target's loader, which waits meanwhile.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>
#include <utility>

#include "runtime/memory/arena_format.h"
#include "runtime/memory/raised_semaphores.h"
#include "runtime/patch/hooks.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/running_memory.h"
#include "runtime/session/session.h"
#include "runtime/shared/atomic.h"
#include "runtime/shared/capture.h"
#include "runtime/text/journal.h"

namespace dj {
namespace {

void wake_all(uint64_t word) {
  syscall(SYS_futex, reinterpret_cast<void*>(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void add_fresh(LaterObjects& objects, const MappedModule& module) {
  objects.modules.push_back(module);
  objects.modules.back().awaits_relocation = has_text_relocations(module.open_path);
}

LaterObjects with_more(const std::vector<MappedModule>& known,
                       const std::vector<MappedModule>& more) {
  LaterObjects objects{known, known.size()};
  for (const MappedModule& module : more) add_fresh(objects, module);
  return objects;
}

}  // namespace

std::optional<uint32_t> Session::loader_event() const {
  const uint32_t events = words().loader_events();
  return events == answered_ ? std::nullopt : std::optional(events);
}

void Session::answer_loader(uint32_t event) {
  answered_ = event;
  words().answer_loader(event);
  wake_all(words().loader_futex());
}

// From here on the loader does not wait.
void Session::close_loader_talk() {
  words().set_loader_awaits(abi::kNobody);
  answer_loader(words().loader_events());
}

void Session::let_loader_wait(bool waits) {
  words().set_loader_awaits(waits ? abi::kAwaited : abi::kNotAwaited);
  wake_all(words().loader_futex());
}

Result<LaterObjects> Session::find_later_objects() {
  // Between two events that follow each other the loader maps, or unmaps, or neither.
  const bool is_next = words().loader_events() == answered_ + 1;
  if (is_next && module_watch_.has_as_much_code()) return LaterObjects{known_, known_.size()};
  if (is_next && !writable_text_) {
    if (auto more = module_watch_.look_below()) return with_more(known_, *more);
  }
  DJ_TRY_DO(module_watch_.look());
  std::vector<MappedModule> trusted;
  if (writable_text_) {
    trusted = module_watch_.modules();
    trust_writable(trusted);
  }
  const std::vector<MappedModule>& now = writable_text_ ? trusted : module_watch_.modules();
  const RunningMemory memory(pid_);
  std::set<uint64_t> gone = installation_->find_gone_sites(memory, now);
  for (Later& later : later_) gone.merge(later.installation.find_gone_sites(memory, now));
  LaterObjects found;
  std::set<std::pair<uint64_t, std::string_view>> old;
  for (const MappedModule& module : known_) {
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

void Session::know(const LaterObjects& objects, ModuleCodes& codes) {
  known_ = objects.modules;
  if (has_rows_) gs_base_setter_ = gs_base_setter(objects.modules, objects.first_new, codes);
}

Result<Stopped> Session::stop_target() {
  DJ_TRY(Stopped now, Stopped::stop(pid_));
  if (!is_in_target(now)) return Error{"the target has executed another program", Fail::TargetGone};
  return now;
}

Status Session::add_later(ModuleCodes& codes, const LaterInput& input) {
  DJ_TRY_DO(add_later_sites(header_, capture_handlers_, input.plan));
  const InstallInput install = {.plan = input.plan,
                                .layout = *layout_,
                                .abis = input.abis,
                                .modules = input.objects.modules,
                                .first_module = input.objects.first_new,
                                .pid = pid_,
                                .switched = patching_.switched,
                                .shares_trap = installation_->may_trap()};
  Installation made = Installation::prepare(std::move(input.patches), install, codes);
  if (!has_rows_) made.count_by_calls();
  const uint64_t code_bytes = link_bytes(input.image);
  DJ_TRY(Stopped stopped, stop_target());
  DJ_TRY(SessionMemory memory,
         SessionMemory::create_more(stopped, header_.arena_base, made.island_modules(),
                                    code_bytes + made.detour_bytes(), made.journal_bytes(),
                                    made.stub_chooser(), later_maps_));
  stopped.release();  // nobody but the loader need wait while code is linked
  Later& later = later_.emplace_back(Later{std::move(memory), std::move(made),
                                           Semaphores(input.plan, input.objects.modules),
                                           input.plan.first_site, input.plan.first_handler});
  module_watch_.take_for_known();  // the loader waits, or has given up and is looked at anew
  const Status done = place_later(later, input, code_bytes);
  // What may still be in the text disarm() takes out.
  if (!done.ok() && !later.installation.is_in_text()) {
    Journal(later.memory.journal()).finish(pid_);
    spent_.push_back(std::move(later));
    later_.pop_back();
  }
  return done;
}

Status Session::place_later(Later& later, const LaterInput& input, uint64_t code_bytes) {
  auto link_code = [&](uint64_t base, std::span<uint8_t> working) {
    return link(input.image, base, working, agent_places_);
  };
  DJ_TRY_DO(later.installation.place(later.memory, code_bytes, link_code));
  DJ_TRY_DO(later.installation.ready(pid_));
  DJ_TRY(Stopped stopped, stop_target());
  DJ_TRY_DO(later.installation.arm(stopped));
  return raise(stopped, later.semaphores);
}

// Of calls that were kept before the handlers were switched off nobody knows what became.
void Session::forget_calls(const std::set<HandlerAt>& handlers) {
  if (header_.captures == 0) return;
  std::set<HandlerId> switched;  // by the session's numbers
  for (const auto& [site, handler] : handlers) {
    HandlerId first = 0;
    for (const Later& later : later_) {
      if (site >= later.first_site) first = later.first_handler;
    }
    switched.insert(first + handler);
  }
  for (HandlerId handler : switched) {
    const uint64_t epoch = layout_->capture_data + handler * sizeof(abi::CaptureCount) +
                           offsetof(abi::CaptureCount, epoch);
    arena().store<uint64_t>(epoch, arena().word(epoch).number() + 1);
  }
}

std::vector<InstalledSite> Session::sites() const {
  std::vector<InstalledSite> all =
      installation_ ? installation_->sites() : std::vector<InstalledSite>();
  for (const Later& later : later_) {
    std::vector<InstalledSite> more = later.installation.sites();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace dj
