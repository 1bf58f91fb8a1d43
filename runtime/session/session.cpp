// SPDX-License-Identifier: Apache-2.0
// The order in which a session comes to life: memory, arena, handlers, detours.
#include "runtime/session/session.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "compiler/stages/samples.h"
#include "runtime/memory/arena_format.h"
#include "runtime/memory/own_arena.h"
#include "runtime/memory/site_biases.h"
#include "runtime/shared/capture.h"

namespace dj {

std::vector<SampleCall> sample_calls(const Plan& plan, const Layout& layout) {
  std::vector<SampleCall> samples;
  for (size_t i = 0; i < plan.host_probes.size(); ++i) {
    const HostProbe& probe = plan.host_probes[i];
    if (!is_sample(plan, probe)) continue;
    samples.push_back({.host_probe = i,
                       .handler = probe.handler,
                       .site = static_cast<SiteId>(plan.sites.size() + i),
                       .done = layout.sample_words + 8 * i});
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
    made = session.place(*target, input.image, std::move(detours), std::move(areas));
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
  if (getrandom(&facts.ticket, sizeof facts.ticket, 0) < 0)
    facts.ticket = static_cast<uint64_t>(facts.target_pid);
  std::span<uint8_t> arena(reinterpret_cast<uint8_t*>(input.layout.base), input.layout.bytes);
  DJ_TRY(header_, format_arena(arena, input.layout, input.program, input.plan, facts));
  DJ_TRY(host_, link_host(input.image));
  return ok_status();
}

// The detours of a set go into the areas that the target has mapped for them.
Status Session::place(Target& target, const Image& image, DetourPlan detours, CodeAreas areas) {
  const LinkCode link_code = [&](uint64_t base, std::span<uint8_t> working) {
    if (!target.runs_handlers()) return Result<Linked>(Linked());
    return link(image, base, working, target.agent_places());
  };
  auto* header = reinterpret_cast<abi::Header*>(header_.arena_base);
  uint64_t* const head = dlopened_.empty() ? &header->own_code : &header->own_code_dlopened;
  DJ_TRY(Detours built, build_detours(std::move(detours), std::move(areas), link_code, head));
  write_biases(header_, built.plan.patches, built.plan.modules);
  target.place(std::move(built), header_);
  return ok_status();
}

Status Session::add_dlopened(const DlopenedInput& input) {
  DJ_TRY_DO(add_dlopened_sites(header_, capture_handlers_, input.plan));
  DJ_TRY(CodeAreas areas, target()->map(input.detours, *layout_));
  dlopened_.emplace_back(input.plan.first_site, input.plan.first_handler);
  Status done = place(*target(), input.image, std::move(input.detours), std::move(areas));
  if (done.ok()) done = target()->arm();
  if (done.ok()) return done;
  target()->abandon();
  return done;
}

void Session::run_host(HandlerId handler) {
  auto found = host_.symbols.find(fmt::format("dj_handler_{}", handler));
  CHECK(found != host_.symbols.end());
  reinterpret_cast<void (*)()>(found->second)();
}

void Session::sample(size_t host_probe) {
  for (const auto& target : targets_) target->sample(host_probe);
}

Status Session::arm() {
  for (const auto& target : targets_) DJ_TRY_DO(target->arm());
  return ok_status();
}

void Session::abandon() {
  for (const auto& target : targets_) target->abandon();
}

bool Session::is_in_text() const {
  return std::ranges::any_of(targets_, [](const auto& target) { return target->is_in_text(); });
}

Status Session::restore() {
  Status result = ok_status();
  for (const auto& target : targets_) {
    const Status restored = target->restore();
    if (result.ok()) result = restored;
  }
  return result;
}

ForksLeft Session::restore_forks() {
  return target() == nullptr ? ForksLeft() : target()->restore_forks();
}

void Session::poll() {
  for (const auto& target : targets_) target->poll();
}

std::string Session::why_over() const {
  for (const auto& target : targets_) {
    if (std::string why = target->why_over(); !why.empty()) return why;
  }
  return "";
}

std::vector<InstalledSite> Session::sites() const {
  return target() == nullptr ? std::vector<InstalledSite>() : target()->sites();
}

void Session::let_wait(bool waits) {
  for (const auto& target : targets_) target->let_wait(waits);
}

void Session::keep() {
  for (const auto& target : targets_) target->keep();
}

Status Session::switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) {
  if (on) forget_calls(handlers);
  for (const auto& target : targets_) DJ_TRY_DO(target->switch_handlers(handlers, on, by));
  return ok_status();
}

// What became of calls is not known that were kept before their handlers were switched off.
void Session::forget_calls(const std::set<HandlerAt>& handlers) {
  if (!header_.captures.is_set()) return;
  std::set<HandlerId> switched;  // by the session's numbers
  for (const auto& [site, handler] : handlers) {
    HandlerId first = 0;
    for (const auto& [first_site, first_handler] : dlopened_) {
      if (site >= first_site) first = first_handler;
    }
    switched.insert(first + handler);
  }
  for (HandlerId handler : switched) {
    const uint64_t epoch = layout_->capture_data + handler * sizeof(abi::CaptureCount) +
                           offsetof(abi::CaptureCount, epoch);
    arena().store<uint64_t>(epoch, arena().word(epoch).number() + 1);
  }
}

}  // namespace dj
