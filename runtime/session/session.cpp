// SPDX-License-Identifier: Apache-2.0
// The order in which a session comes to life: memory, arena, handlers, detours.
#include "runtime/session/session.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <iterator>

#include "compiler/stages/samples.h"
#include "runtime/memory/arena_format.h"
#include "runtime/memory/joined_constants.h"
#include "runtime/memory/own_arena.h"
#include "runtime/memory/site_biases.h"
#include "runtime/output/messages.h"
#include "runtime/shared/capture.h"

namespace dj {

namespace {

uint64_t make_ticket(int pid) {
  uint64_t ticket = 0;
  return getrandom(&ticket, sizeof ticket, 0) < 0 ? static_cast<uint64_t>(pid) : ticket;
}

}  // namespace

std::vector<SampleCall> sample_calls(const Plan& plan, const Layout& layout) {
  std::vector<SampleCall> samples;
  for (size_t i = 0; i < plan.host_probes.size(); ++i) {
    const HostProbe& probe = plan.host_probes[i];
    if (!is_sample(plan, probe)) continue;
    samples.push_back({.host_probe = i,
                       .handler = probe.handler,
                       .site = static_cast<SiteId>(plan.sites.size() + i),
                       .done = layout.words.samples + 8 * i});
  }
  return samples;
}

Result<Session> Session::create(Targets targets, const SessionInput& input, DetourPlan detours) {
  Session session;
  session.targets_ = std::move(targets);
  session.header_ = input.layout.header;
  session.capture_handlers_ = capture_handlers(input.plan);
  session.layout_ = &input.layout;
  Target* const target = session.target();
  CodeAreas areas;
  if (target != nullptr) {
    DJ_TRY(areas, target->map(detours, input.layout));
  } else {
    DJ_TRY(session.own_arena_, map_own_arena(input.layout));
  }
  Status made = session.format(input);
  if (made.ok() && target != nullptr)
    made = session.place(*target, input.image, std::move(detours), std::move(areas),
                         &abi::Header::own_code);
  if (!made.ok()) {
    session.abandon();
    return made.error();
  }
  return session;
}

// The arena gets its contents, and djtap's own handlers their code.
Status Session::format(const SessionInput& input) {
  SessionFacts facts;
  if (target() != nullptr) facts = target()->arena_facts();
  facts.stack_tables = input.stack_tables;
  facts.follows_execs = input.follows_execs;
  facts.ticket = make_ticket(facts.target_pid);
  std::span<uint8_t> arena(reinterpret_cast<uint8_t*>(input.layout.base), input.layout.bytes);
  DJ_TRY(header_, format_arena(arena, input.layout, input.program, input.plan, facts));
  presence_ = std::make_unique<Presence>(reinterpret_cast<uint32_t*>(words().presence()));
  used_.sites = input.plan.sites.size() + input.plan.host_probes.size();
  return add_hosts(input.plan, input.image);
}

uint64_t Session::constants_of(const Target& target) const {
  const uint64_t own = target.constants();
  return own != 0 ? own : header_.arena_base;
}

// The trap table follows the stack tables (compiler/stages/layout.cpp).
std::span<uint8_t> Session::stack_room(const Target& target) const {
  if (!header_.stack_tables.is_set()) return {};
  const uint64_t offset = header_.stack_tables.offset;
  return {reinterpret_cast<uint8_t*>(constants_of(target) + offset),
          layout_->traps.table - layout_->base - offset};
}

// The detours of a set go into the areas that the target has mapped for them.
Status Session::place(Target& target, const Image& image, DetourPlan detours, CodeAreas areas,
                      AreaList list) {
  const LinkCode link_code = [&](uint64_t base, std::span<uint8_t> working, uint64_t shared) {
    if (!target.runs_handlers()) return Result<Linked>(Linked());
    return codes_.link(image, base, working, target.agent_places(), shared);
  };
  const uint64_t constants = constants_of(target);
  auto& header = *reinterpret_cast<abi::Header*>(constants);
  DJ_TRY(Detours built,
         build_detours(std::move(detours), std::move(areas), link_code, &(header.*list)));
  if (header.sites.is_set())
    write_biases(
        {reinterpret_cast<abi::SiteInfo*>(constants + header.sites.offset), header.site_count},
        built.plan.patches, built.plan.modules);
  target.place(std::move(built), header);
  return ok_status();
}

// All processes get its texts and rows.
Status Session::add_plan(const Plan& plan) {
  const uint64_t texts = texts_used(header_);
  DJ_TRY_DO(add_dlopened_sites(header_, capture_handlers_, plan));
  used_.plans.emplace_back(plan.first_site, plan.first_handler);
  used_.sites = plan.first_site + plan.sites.size() + plan.host_probes.size();
  for (const auto& target : targets_) {
    if (const uint64_t constants = target->constants(); constants != header_.arena_base)
      copy_plan(constants, header_, texts, plan.first_site, used_.sites);
  }
  return ok_status();
}

Status Session::add_dlopened(Target& target, const FurtherInput& input) {
  used_.sets_added++;
  DJ_TRY(CodeAreas areas, target.map(input.detours, *layout_));
  Status done = place(target, input.image, std::move(input.detours), std::move(areas),
                      &abi::Header::own_code_dlopened);
  if (done.ok()) done = target.arm();
  if (done.ok()) return done;
  target.abandon();
  return done;
}

Status Session::join(std::unique_ptr<Target> target, const FurtherInput& input,
                     std::span<const uint8_t> stack_tables) {
  used_.sets_added++;
  DJ_TRY(CodeAreas areas, target->map(input.detours, *layout_));
  SessionFacts facts = target->arena_facts();
  facts.stack_tables = stack_tables;
  facts.ticket = make_ticket(facts.target_pid);
  format_joined(constants_of(*target), *layout_, header_, used_.sites, facts);
  Status done = place(*target, input.image, std::move(input.detours), std::move(areas),
                      &abi::Header::own_code);
  if (done.ok()) done = target->arm();
  if (!done.ok()) return target->abandon(), done;
  targets_.push_back(std::move(target));
  return done;
}

void Session::set_ended(const Target& target) {
  CHECK(&target != this->target());  // its constants are the session's
  const auto found = std::ranges::find(targets_, &target, &std::unique_ptr<Target>::get);
  CHECK(found != targets_.end());
  if (const std::optional<Samples> taken = (*found)->report().samples) ended_samples_ += *taken;
  ended_.push_back(std::move(*found));
  targets_.erase(found);
}

void Session::drop_ended(const std::set<uint64_t>& memories) {
  std::erase_if(ended_, [&](const auto& target) { return !target->has_forks(memories); });
}

Status Session::add_globals(const Program& program, size_t first_global, size_t first_text) {
  return dj::add_globals(header_, *layout_, program, first_global, first_text);
}

Status Session::add_hosts(const Plan& plan, const Image& image) {
  DJ_TRY(hosts_.linked[plan.first_handler], link_host(image));
  return ok_status();
}

void Session::run_host(HandlerId handler) {
  const auto& [first, linked] = *std::prev(hosts_.linked.upper_bound(handler));
  auto found = linked.symbols.find(fmt::format("dj_handler_{}", handler - first));
  CHECK(found != linked.symbols.end());
  if (hosts_.before) hosts_.before();
  reinterpret_cast<void (*)()>(found->second)();
}

void Session::sample(size_t host_probe) {
  for (const auto& target : targets_) {
    if (!target->has_ended()) target->sample(host_probe);
  }
}

std::optional<Samples> Session::samples() const {
  bool are_taken = false;
  Samples all = ended_samples_;
  for (const auto& target : targets_) {
    const std::optional<Samples> its = target->report().samples;
    are_taken = are_taken || its;
    if (its) all += *its;
  }
  return are_taken ? std::optional(all) : std::nullopt;
}

Status Session::arm() {
  for (const auto& target : targets_) DJ_TRY_DO(target->arm());
  return ok_status();
}

void Session::abandon() {
  for (const auto& target : targets_) target->abandon();
}

bool Session::is_in_text() const {
  return std::ranges::any_of(
      targets_, [](const auto& target) { return !target->has_ended() && target->is_in_text(); });
}

Status Session::restore() {
  Status result = ok_status();
  const bool is_one = targets_.size() == 1;
  for (const auto& target : targets_) {
    if (!is_one && target->has_ended()) continue;
    const Status restored = target->restore();
    if (result.ok()) result = restored;
  }
  return result;
}

ForksLeft Session::restore_forks() {
  ForksLeft all;
  const MemoryUsers users = find_memory_users();
  for (const Targets* targets : {&targets_, &ended_}) {
    for (const auto& target : *targets) {
      ForksLeft left = target->restore_forks(users);
      all.count += left.count;
      all.living += left.living;
      if (!all.names.empty() && !left.names.empty()) all.names += ", ";
      all.names += left.names;
      std::ranges::move(left.failures, std::back_inserter(all.failures));
    }
  }
  return all;
}

void Session::poll(const std::function<bool(int pid)>& is_leaving) {
  for (const auto& target : targets_) {
    if (!is_leaving(target->pid())) target->poll();
  }
}

std::string Session::why_over() const {
  return targets_.size() == 1 ? targets_.front()->why_over() : "";
}

bool Session::end_one() {
  if (targets_.size() < 2) return false;
  for (const auto& target : targets_) {
    const std::string why = target->why_over();
    if (why.empty()) continue;
    const int pid = target->pid();
    const Status restored = target->restore();
    words().answer_end();
    let_wait(true);  // the others' loaders
    report_warning("DJ5902", fmt::format("the session ends for process {}: {}", pid, why));
    if (!restored.ok())
      report_error("DJ5014", fmt::format("probes not removed: {}", restored.error().message));
    return true;
  }
  return false;
}

std::vector<InstalledSite> Session::sites() const {
  std::vector<InstalledSite> all;
  for (const auto& target : targets_) {
    if (targets_.size() > 1 && target->has_ended()) continue;
    for (InstalledSite& site : target->sites()) {
      if (targets_.size() > 1) site.pid = target->pid();
      all.push_back(std::move(site));
    }
  }
  return all;
}

void Session::let_wait(bool waits) {
  for (const auto& target : targets_) target->let_wait(waits);
}

void Session::keep() {
  for (const auto& target : targets_) target->keep();
}

Status Session::switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) {
  if (on) forget_calls(handlers);
  const bool is_one = targets_.size() == 1;
  for (const auto& target : targets_) {
    if (is_one || !target->has_ended()) DJ_TRY_DO(target->switch_handlers(handlers, on, by));
  }
  return ok_status();
}

// What became of calls is not known that were kept before their handlers were switched off.
void Session::forget_calls(const std::set<HandlerAt>& handlers) {
  if (!header_.captures.is_set()) return;
  std::set<HandlerId> switched;  // by the session's numbers
  for (const auto& [site, handler] : handlers) {
    HandlerId first = 0;
    for (const auto& [first_site, first_handler] : used_.plans) {
      if (site >= first_site) first = first_handler;
    }
    switched.insert(first + handler);
  }
  for (HandlerId handler : switched) {
    const uint64_t epoch = layout_->words.captures + handler * sizeof(abi::CaptureCount) +
                           offsetof(abi::CaptureCount, epoch);
    arena().store<uint64_t>(epoch, arena().word(epoch).number() + 1);
  }
}

}  // namespace dj
