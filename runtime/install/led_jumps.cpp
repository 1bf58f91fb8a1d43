// SPDX-License-Identifier: Apache-2.0
// A jump that is led elsewhere is a place like others, whose detour is the copy that it leads to.
#include "runtime/install/led_jumps.h"

#include <algorithm>
#include <map>

#include "arch/x86_64/incoming_jumps.h"

namespace dj {
namespace {

// The instructions at which guards stand: the ELF address of each, and the runtime address of its
// copy in the detour.
using Copies = std::map<uint64_t, uint64_t>;

Copies guarded_copies(const PatchSite& site, uint64_t bias) {
  Copies copies;
  for (const auto& [offset, copy] : site.copies) {
    const bool guarded = offset < 32 && (site.guards() >> offset & 1) != 0;
    if (guarded) copies[site.address + offset - bias] = copy;
  }
  return copies;
}

PatchSite make_jump(uint64_t address, std::span<const uint8_t> original, const arch::JumpBytes& led,
                    uint64_t copy, uint32_t module) {
  PatchSite jump;
  jump.jump = true;
  jump.address = address;
  jump.module = module;
  jump.detour = copy;
  jump.led = led;
  jump.original.assign(original.begin(), original.end());
  jump.name = "led-jump";
  return jump;
}

std::vector<PatchSite> find_jumps(const Copies& copies, const MappedModule& module, uint32_t index,
                                  const ReadText& read_text) {
  const Result<arch::ModuleText> text = read_text(module.open_path);
  if (!text.ok()) return {};
  std::vector<uint64_t> targets;
  for (const auto& [target, copy] : copies) targets.push_back(target);
  std::vector<PatchSite> jumps;
  for (const arch::IncomingJump& found : arch::incoming_jumps(text.value(), targets)) {
    const auto original = arch::bytes_at(text.value().text, found.address).first(found.length);
    const uint64_t address = found.address + module.bias, copy = copies.at(found.target);
    const std::optional<arch::JumpBytes> led = arch::led_elsewhere(original, address, copy);
    if (led) jumps.push_back(make_jump(address, original, *led, copy, index));
  }
  return jumps;
}

bool touches(const PatchSite& one, const PatchSite& other) {
  return one.address < other.address + std::max<size_t>(other.original.size(), 1) &&
         other.address < one.address + one.original.size();
}

}  // namespace

bool LedJumps::want(size_t site) {
  if (!known_.insert(site).second) return false;
  wanted_.push_back(site);
  return true;
}

void LedJumps::look(const std::vector<PatchSite>& sites, const std::vector<MappedModule>& modules,
                    const ReadText& read_text) {
  if (search_ || wanted_.empty()) return;
  search_ = std::make_unique<Search>();
  search_->site = wanted_.front();
  wanted_.pop_front();
  const PatchSite& site = sites[search_->site];
  const MappedModule& module = modules[site.module];
  search_->thread = spare_thread(
      [&search = *search_, copies = guarded_copies(site, module.bias), module, index = site.module,
       read_text] { search.jumps = find_jumps(copies, module, index, read_text); });
}

bool LedJumps::is_found() const {
  return search_ && (!search_->thread || search_->thread->has_ended());
}

LedJumps::Found LedJumps::found(const SiteList& taken) {
  Found found{search_->site, {}};
  for (PatchSite& jump : search_->jumps) {
    const auto touched = [&](const PatchSite* place) { return touches(jump, *place); };
    if (jumps_.size() == kMost || std::ranges::any_of(taken, touched)) continue;
    found.jumps.push_back(&jumps_.emplace_back(std::move(jump)));
  }
  search_.reset();
  return found;
}

SiteList LedJumps::all() {
  SiteList list;
  for (PatchSite& jump : jumps_) list.push_back(&jump);
  return list;
}

}  // namespace dj
