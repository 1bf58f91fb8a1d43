// SPDX-License-Identifier: Apache-2.0
// A set of detours on its way into the kernel and out of it.
#include "runtime/kernel/kernel_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/page.h"
#include "runtime/kernel/kernel_sites.h"
#include "runtime/memory/own_arena.h"
#include "runtime/process/os_error.h"
#include "runtime/process/untrusted.h"

namespace dj {
namespace {

constexpr uint64_t kStubRoom = uint64_t{1} << 20;  // behind the code area, in the same block
constexpr uint64_t kMostStubPages = 1 << 15;

}  // namespace

KernelTarget::KernelTarget(std::unique_ptr<KernelLink> link, std::vector<MappedModule> objects,
                           SessionFacts facts)
    : link_(std::move(link)), objects_(std::move(objects)), facts_(facts) {}

TargetFacts KernelTarget::kernel_facts() {
  return {.has_rseq = false, .makes_system_calls = false, .keeps_calls = false};
}

// A detour's counter is a word of the module: the same number, behind another begin.
Status KernelTarget::lead_counters(DetourPlan& plan, const Layout& layout) {
  DJ_TRY(const djtap_hello hello, link_->hello());
  std::set<HandlerId> used;
  for (const PatchSite& site : plan.patches.sites) {
    for (const PatchCall& call : site.calls) used.insert(call.handler);
  }
  for (HandlerId handler : used) {
    HandlerAbi& abi = plan.abis[handler];
    if (abi.count_word == 0)
      return Error{"in the kernel, handlers that do more than count are not built yet",
                   Fail::Unsupported};
    const uint64_t counter = (abi.count_word - layout.thread_words()) / sizeof(uint64_t);
    if (counter >= hello.counters)
      return Error{fmt::format("the kernel module has {} counters, and the script wants more",
                               hello.counters)};
    counts_.resize(std::max<size_t>(counts_.size(), counter + 1));
    abi.count_word = hello.counter_offset + counter * sizeof(uint64_t);
  }
  plan.cache = {};      // its detours count elsewhere
  plan.code_bytes = 0;  // no handler's code goes there
  return ok_status();
}

Result<CodeAreas> KernelTarget::map(DetourPlan& plan, const Layout& layout) {
  if (code_at_ != 0)
    return Error{"probes in kernel modules that come later are not built yet", Fail::Unsupported};
  const uint64_t begin = now_ns();
  DJ_TRY(arena_, map_own_arena(layout));
  DJ_TRY_DO(lead_counters(plan, layout));
  CodeAreas areas;
  const std::vector<AddressRange> modules = plan.area_modules();
  if (modules.empty()) return areas;
  code_.resize(page_up(plan.area_bytes()));
  DJ_TRY(code_at_, link_->alloc_code(code_.size() + kStubRoom));
  const AddressRange served = {modules.front().begin, modules.back().end};
  const AddressRange area = {code_at_, code_at_ + code_.size()};
  areas.add_area(served, area.begin, code_);
  std::vector<StubPages> pages =
      plan.stub_chooser()({{area.end, area.end + kStubRoom}}, kMostStubPages, {{served, area}});
  stubs_.resize(plan.stub_bytes);
  areas.set_stubs(std::move(pages), stubs_);
  times_.prepare_ns = now_ns() - begin;
  return areas;
}

void KernelTarget::place(Detours detours, const abi::Header& header) {
  header_ = header;
  times_.link_ns = detours.link_ns;
  times_.detours_ns = detours.build_ns;
  detours_.emplace(std::move(detours));
}

Status KernelTarget::send_code() {
  DJ_TRY_DO(link_->write_code(0, code_));
  for (const StubPages& pages : detours_->writer.areas().stubs()) {
    const uint64_t bytes = pages.range.end - pages.range.begin;
    DJ_TRY_DO(link_->write_code(pages.range.begin - code_at_,
                                std::span(stubs_).subspan(pages.at, bytes)));
  }
  return link_->seal();
}

Status KernelTarget::arm() {
  if (code_at_ == 0) return ok_status();
  const uint64_t begin = now_ns();
  DJ_TRY_DO(send_code());
  const KernelSites made = kernel_sites(detours_->sites());
  armed_ = made.places;
  if (made.sites.empty()) return ok_status();
  DJ_TRY(const std::vector<djtap_answer> answers, link_->arm(made.sites, made.copies));
  for (size_t i = 0; i < answers.size(); i++) {
    PatchSite& place = *made.places[i];
    if (answers[i] == DJTAP_ARMED && place.jump) {
      set_state(place, SiteState::Optimizing);
      set_state(place, SiteState::Optimized);
    } else if (answers[i] == DJTAP_ARMED || answers[i] == DJTAP_LEFT_INT3) {
      if (place.jump) place.fall_back_to_int3(reason_of(answers[i]));
      set_state(place, SiteState::Int3);
    } else {
      place.skip(reason_of(answers[i]));
    }
  }
  times_.patch_ns = now_ns() - begin;
  return ok_status();
}

// The module frees the block with the session: nothing of it is in the text.
void KernelTarget::abandon() {
  armed_.clear();
  detours_.reset();
}

Status KernelTarget::restore() {
  if (!is_in_text()) return ok_status();
  DJ_TRY(const std::vector<djtap_answer> answers, link_->disarm());
  carry_counts();
  size_t kept = 0;
  for (size_t i = 0; i < answers.size() && i < armed_.size(); i++) {
    PatchSite& place = *armed_[i];
    if (!place.armed()) continue;
    kept += answers[i] == DJTAP_KEPT;
    set_state(place, answers[i] == DJTAP_REMOVED ? SiteState::Disarmed : SiteState::Gone,
              reason_of(answers[i]));
  }
  if (kept == 0) return ok_status();
  return Error{
      fmt::format("at {} of the kernel's places another tool has a probe over djtap's; "
                  "djtap's module takes its own out when that tool lets go",
                  kept)};
}

bool KernelTarget::is_in_text() {
  return std::ranges::any_of(armed_, [](const PatchSite* place) { return place->armed(); });
}

Status KernelTarget::switch_handlers(const std::set<HandlerAt>&, bool, OffBy) {
  return Error{"probes of the kernel cannot be switched yet", Fail::Unsupported};
}

void KernelTarget::poll() { carry_counts(); }

// The first row of a counter is this target's: no thread of djtap counts in it.
void KernelTarget::carry_counts() {
  if (counts_.empty() || !link_->counts(counts_).ok()) return;
  const ArenaView arena = {header_.arena_base, header_.arena_bytes};
  const uint64_t row = header_.counters.address(abi::arena_of(&header_));
  for (size_t i = 0; i < counts_.size(); i++)
    arena.store<uint64_t>(row + i * sizeof(uint64_t), counts_[i]);
}

Result<DlopenedObjects> KernelTarget::find_objects() {
  return DlopenedObjects{objects_, objects_.size()};
}

std::vector<InstalledSite> KernelTarget::sites() const {
  return detours_ ? detours_->list() : std::vector<InstalledSite>();
}

std::vector<InstalledSite> KernelTarget::skipped_sites() const {
  std::vector<InstalledSite> skipped = sites();
  std::erase_if(skipped,
                [](const InstalledSite& site) { return site.state != SiteState::Skipped; });
  return skipped;
}

ArmReport KernelTarget::report() const {
  ArmReport report;
  for (const InstalledSite& site : sites())
    report.armed += site.state == SiteState::Optimized || site.state == SiteState::Int3;
  report.sites = sites().size();
  report.times = times_;
  return report;
}

}  // namespace dj
