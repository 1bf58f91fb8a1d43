// SPDX-License-Identifier: Apache-2.0
// The phases: which bytes each of them changes.
#include "runtime/text/live_text.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>

#include "arch/x86_64/detour.h"
#include "runtime/process/os_error.h"
#include "runtime/process/remote_call.h"

namespace dj {
namespace {

// linux/membarrier.h
constexpr uint64_t kSyncCore = 1 << 5, kRegisterSyncCore = 1 << 6;

using Bytes = arch::JumpBytes;

Bytes original_of(const PatchSite& site) {
  return Bytes(std::span(site.original).first(site.patched().size()));
}

// `bytes` with an int3 where a bit of `at` is set.
Bytes with_int3(Bytes bytes, uint32_t at) {
  for (size_t i = 0; i < bytes.size(); i++) {
    bytes[i] = (at >> i & 1) != 0 ? arch::kInt3 : bytes[i];
  }
  return bytes;
}

// Int3 on the first byte and where `boundaries` has bits, and what lies between them.
TextPatch int3_patch(const PatchSite& site, uint32_t boundaries) {
  const Bytes bytes = with_int3(original_of(site), boundaries | 1);
  return {site.address, Bytes(std::span(bytes).first(std::bit_width(boundaries | 1)))};
}

// All of `bytes` but the first.
TextPatch rest_patch(const PatchSite& site, const Bytes& bytes) {
  return {site.address + 1, Bytes(std::span(bytes).subspan(1))};
}

TextPatch first_patch(const PatchSite& site, uint8_t byte) {
  return {site.address, Bytes(std::span(&byte, 1))};
}

// Phases: what is written of the waiting ones of some sites.
struct Phases {
  explicit Phases(const SiteList& sites) {
    for (std::vector<TextPatch>* patches : {&int3s, &rests, &firsts}) {
      patches->reserve(sites.size());
    }
    for (PatchSite* site : sites) {
      if (site->is_waiting()) add(*site);
    }
  }
  void add(PatchSite& site) {
    const uint32_t boundaries = live_boundaries(site);
    inside = inside || (boundaries & ~site.guards()) != 0;
    int3s.push_back(int3_patch(site, boundaries));
    if (!site.jump) return;
    const Bytes bytes = site.patched();
    rests.push_back(rest_patch(site, bytes));
    firsts.push_back(first_patch(site, bytes[0]));
    jumps.push_back(&site);
  }
  std::vector<TextPatch> int3s, rests, firsts;
  SiteList jumps;
  bool inside = false;  // can anybody stand where a displacement will be?
};

}  // namespace

uint32_t live_boundaries(const PatchSite& site) {
  const Bytes ours = site.patched(), original = original_of(site);
  uint32_t last = 0;  // the last byte that changes
  for (uint32_t i = 0; i < ours.size(); i++) {
    last = ours[i] != original[i] ? i : last;
  }
  uint32_t boundaries = 0;
  for (auto [offset, copy] : site.copies) {
    boundaries |= offset > 0 && offset <= last ? 1u << offset : 0;
  }
  return boundaries;
}

bool can_write_live(const PatchSite& site) {
  const Bytes ours = site.patched(), original = original_of(site);
  for (size_t i = site.displaced; i < ours.size(); i++) {
    if (ours[i] != original[i]) {
      return false;
    }
  }
  return true;
}

Status LiveText::prepare() {
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped_));
  DJ_TRY(int64_t result, call.syscall(SYS_membarrier, {kRegisterSyncCore, 0, 0}));
  DJ_TRY_DO(call.give_back());
  return result == 0 ? ok_status()
                     : Status(Error{"the kernel cannot serialize the processors of a process",
                                    Fail::Unsupported});
}

// The thread is borrowed for each barrier anew: what it executes for us must not be a byte that we
// have just written.
Status LiveText::barrier() {
  DJ_TRY(RemoteCall call, RemoteCall::borrow(stopped_));
  DJ_TRY_DO(call.checked("membarrier", SYS_membarrier, {kSyncCore, 0, 0}));
  return call.give_back();
}

Status LiveText::phase(const std::vector<TextPatch>& patches) {
  DJ_TRY_DO(text_.write(stopped_, patches));
  return barrier();
}

Status LiveText::write(const SiteList& all, const std::function<Status()>& quiesce) {
  const Phases phases(all);
  if (phases.int3s.empty()) {
    return ok_status();
  }
  text_.read(stopped_);
  uint64_t begin = now_ns();
  for (PatchSite* site : all) {
    if (site->is_waiting()) set_state(*site, SiteState::Int3, site->reason.str());
  }
  DJ_TRY_DO(phase(phases.int3s));
  write_ns_ += now_ns() - begin;
  if (phases.rests.empty()) {
    return ok_status();
  }
  DJ_TRY_DO(phases.inside ? quiesce() : ok_status());
  begin = now_ns();
  for (PatchSite* site : phases.jumps) {
    set_state(*site, SiteState::Optimizing);
  }
  DJ_TRY_DO(phase(phases.rests));
  DJ_TRY_DO(phase(phases.firsts));
  for (PatchSite* site : phases.jumps) {
    set_state(*site, SiteState::Optimized, "written while the program runs");
  }
  write_ns_ += now_ns() - begin;
  return ok_status();
}

// Those of `all` whose text has our bytes; armed ones that have not are Gone.
SiteList LiveText::find_armed(const SiteList& all, std::string& damage) {
  SiteList sites;
  text_.read(stopped_);
  for (PatchSite* site : all) {
    bool readable = true;
    if (!site->armed()) continue;
    if (text_.equals(site->address, site->patched(), &readable)) {
      sites.push_back(site);
      continue;
    }
    set_state(*site, SiteState::Gone, readable ? "other bytes stand there" : "it was unmapped");
    if (readable) {
      damage = fmt::format("the text at {:#x} was changed by somebody else and is left as it is",
                           site->address);
    }
  }
  return sites;
}

Status LiveText::restore(const SiteList& all, std::string& damage) {
  const SiteList sites = find_armed(all, damage);
  if (sites.empty()) {
    return ok_status();
  }
  const uint64_t begin = now_ns();
  std::vector<TextPatch> int3s, rests, originals;
  for (PatchSite* site : sites) {
    if (site->jump) {
      set_state(*site, SiteState::Int3, "on its way back");
      int3s.push_back(first_patch(*site, arch::kInt3));
      rests.push_back(rest_patch(*site, with_int3(original_of(*site), site->guards())));
    }
    const Bytes original = original_of(*site);
    originals.push_back(
        {site->address, Bytes(std::span(original).first(std::bit_width(site->guards() | 1)))});
  }
  DJ_TRY_DO(phase(int3s));
  DJ_TRY_DO(phase(rests));
  DJ_TRY_DO(phase(originals));
  for (PatchSite* site : sites) {
    set_state(*site, SiteState::Disarmed);
  }
  write_ns_ += now_ns() - begin;
  return verify(sites);
}

// Their original bytes stand there again.
Status LiveText::verify(const SiteList& sites) {
  text_.read(stopped_);
  for (const PatchSite* site : sites) {
    bool readable = true;
    if (!text_.equals(site->address, original_of(*site), &readable)) {
      return Error{fmt::format("the original text at {:#x} could not be put back", site->address)};
    }
  }
  return ok_status();
}

Status LiveText::abandon(const Stopped& stopped, const SiteList& sites) {
  for (PatchSite* site : sites) {
    if (site->state != SiteState::Int3 && site->state != SiteState::Optimizing &&
        site->state != SiteState::Optimized) {
      continue;
    }
    DJ_TRY_DO(stopped.write(site->address, original_of(*site)));
    set_state(*site, SiteState::Disarmed, "not finished");
  }
  return ok_status();
}

}  // namespace dj
