// The phases, byte by byte.
#include "runtime/text/live_text.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>

#include "arch/x86_64/detour.h"
#include "runtime/process/os_error.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/text_patch.h"

namespace dj {
namespace {

// linux/membarrier.h
constexpr uint64_t kSyncCore = 1 << 5, kRegisterSyncCore = 1 << 6;

using Bytes = arch::JumpBytes;

bool is_waiting(const PatchSite& site) {
  return site.state == SiteState::Registered || site.state == SiteState::Disarmed;
}

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

// How many bytes from the first one reach over all bits of `at`.
size_t reach(uint32_t at) { return static_cast<size_t>(std::bit_width(at)); }

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

Status LiveText::write(const SiteList& all, const std::function<Status()>& quiesce) {
  SiteList sites, jumps;
  std::copy_if(all.begin(), all.end(), std::back_inserter(sites),
               [](const PatchSite* s) { return is_waiting(*s); });
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(jumps),
               [](const PatchSite* s) { return s->jump; });
  if (sites.empty()) {
    return ok_status();
  }
  uint64_t begin = now_ns();
  bool inside = false;  // can anybody stand where a displacement will be?
  for (PatchSite* site : sites) {
    const uint32_t boundaries = live_boundaries(*site);
    inside = inside || (boundaries & ~site->guards()) != 0;
    set_state(*site, SiteState::Int3, site->reason);
    const Bytes bytes = with_int3(original_of(*site), boundaries | 1);
    DJ_TRY_DO(stopped_.write(site->address, std::span(bytes).first(reach(boundaries | 1))));
  }
  DJ_TRY_DO(barrier());
  write_ns_ += now_ns() - begin;
  if (jumps.empty()) {
    return ok_status();
  }
  DJ_TRY_DO(inside ? quiesce() : ok_status());
  begin = now_ns();
  for (PatchSite* site : jumps) {
    set_state(*site, SiteState::Optimizing);
    const Bytes bytes = site->patched();
    DJ_TRY_DO(stopped_.write(site->address + 1, std::span(bytes).subspan(1)));
  }
  DJ_TRY_DO(barrier());
  for (PatchSite* site : jumps) {
    const Bytes bytes = site->patched();
    DJ_TRY_DO(stopped_.write(site->address, std::span(bytes).first(1)));
    set_state(*site, SiteState::Optimized, "written while the program runs");
  }
  DJ_TRY_DO(barrier());
  write_ns_ += now_ns() - begin;
  return ok_status();
}

Status LiveText::restore(const SiteList& all, std::string& damage) {
  SiteList sites;
  TextReader text(stopped_);
  for (PatchSite* site : all) {
    bool readable = true;
    if (site->armed() && !text.equals(site->address, site->patched(), &readable)) {
      set_state(*site, SiteState::Gone, readable ? "other bytes stand there" : "it was unmapped");
      if (readable) {
        damage = fmt::format("the text at {:#x} was changed by somebody else and is left as it is",
                             site->address);
      }
    }
    if (site->armed()) {
      sites.push_back(site);
    }
  }
  if (sites.empty()) {
    return ok_status();
  }
  const uint64_t begin = now_ns();
  const uint8_t int3 = arch::kInt3;
  for (PatchSite* site : sites) {
    if (site->jump) {
      set_state(*site, SiteState::Int3, "on its way back");
      DJ_TRY_DO(stopped_.write(site->address, std::span(&int3, 1)));
    }
  }
  DJ_TRY_DO(barrier());
  for (PatchSite* site : sites) {
    if (site->jump) {
      const Bytes bytes = with_int3(original_of(*site), site->guards());
      DJ_TRY_DO(stopped_.write(site->address + 1, std::span(bytes).subspan(1)));
    }
  }
  DJ_TRY_DO(barrier());
  for (PatchSite* site : sites) {
    const Bytes bytes = original_of(*site);
    DJ_TRY_DO(stopped_.write(site->address, std::span(bytes).first(reach(site->guards() | 1))));
    set_state(*site, SiteState::Disarmed);
  }
  DJ_TRY_DO(barrier());
  TextReader after(stopped_);
  for (const PatchSite* site : sites) {
    bool readable = true;
    if (!after.equals(site->address, original_of(*site), &readable)) {
      return Error{fmt::format("the original text at {:#x} could not be put back", site->address)};
    }
  }
  write_ns_ += now_ns() - begin;
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
