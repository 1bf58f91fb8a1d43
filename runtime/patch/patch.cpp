// SPDX-License-Identifier: Apache-2.0
// Making a place from what the checks said of its region; its refusal, and its bytes.
#include "runtime/patch/patch.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/decode.h"
#include "runtime/patch/module_code.h"

namespace dj {
namespace {

// Of the instruction at an ELF address; 0: undecodable.
uint64_t insn_length(const ModuleCode& code, uint64_t address) {
  arch::Insn insn;
  std::span<const uint8_t> bytes;
  for (uint64_t room = 15; room > 0 && bytes.empty(); room--) {
    bytes = code.at(address, room);
  }
  return arch::decode(bytes, address, insn) ? insn.length : 0;
}

Result<std::shared_ptr<JumpForm>> make_form(const ModuleCode& code, const arch::Region& region,
                                            uint64_t bias) {
  auto form = std::make_shared<JumpForm>();
  form->region = region;
  form->placements = arch::placements(region);
  form->region.address += bias;
  form->region.probe_address += region.probe_address != 0 ? bias : 0;
  for (arch::Placement& placement : form->placements) {
    placement.jump += bias;
  }
  const uint64_t at = std::max(region.probe_address, region.address);
  form->int3_at = static_cast<uint8_t>(at - region.address);
  form->int3_length =
      at == region.address ? region.first : static_cast<uint8_t>(insn_length(code, at));
  return form->int3_length == 0 ? Result<std::shared_ptr<JumpForm>>(Error{"undecodable"}) : form;
}

}  // namespace

Result<PatchSite> make_place(const ModuleCode& code, const arch::Region& region, bool jump,
                             uint64_t bias) {
  PatchSite place;
  place.jump = jump;
  uint64_t address = region.address, length = region.length;
  const bool has_probe_address = region.probe_address > region.address;
  if (jump) {
    place.handlers_at =
        has_probe_address ? static_cast<uint32_t>(region.probe_address - address) : 0;
  } else {
    // One instruction: the one that the handlers precede.
    address = has_probe_address ? region.probe_address : address;
    length = insn_length(code, address);
    if (length == 0) {
      return Error{"undecodable"};
    }
    place.reason =
        region.verdict == arch::Verdict::Ok ? "--no-optimize" : arch::verdict_name(region.verdict);
  }
  place.displaced = static_cast<uint32_t>(length);
  if (jump && !arch::is_plain(region)) {
    DJ_TRY(place.form, make_form(code, region, bias));
    // The longest form's bytes: what is displaced is known when the form is chosen.
    for (const arch::Placement& form : place.form->placements) {
      // Where it leans the bytes behind are looked at, too: they are part of the displacement.
      const uint64_t window = form.prefix + 5;
      length = std::max<uint64_t>({length, form.length, window});
      place.displaced = std::max<uint32_t>(place.displaced, form.length);
    }
  }
  std::span<const uint8_t> bytes = code.at(address, length);
  if (bytes.empty()) {
    return Error{"outside the module's text"};
  }
  place.original.assign(bytes.begin(), bytes.end());
  place.address = address + bias;
  return place;
}

void PatchSite::skip(std::string why) {
  set_state(*this, SiteState::Skipped, why);
  reason = std::move(why);
}

void PatchSite::fall_back_to_int3(std::string why) {
  CHECK(form && !armed());
  const long at = form->int3_at, length = form->int3_length;
  original = std::vector<uint8_t>(original.begin() + at, original.begin() + at + length);
  displaced = static_cast<uint32_t>(length);
  address += form->int3_at;
  handlers_at = 0;
  jump = false;
  form.reset();
  reason = std::move(why);
}

PatchCall body_call(const Plan& plan, SiteId site, HandlerId handler, bool at_exit) {
  const bool middle = plan.handlers[handler].form == Handler::Form::Middle;
  const auto form = middle ? arch::Form::Middle : arch::Form::Boundary;
  return {site, handler, form, 0, at_exit, PatchCall::Body, 0, false};
}

bool PatchSite::any_enabled() const {
  return std::any_of(calls.begin(), calls.end(), [](const PatchCall& c) { return c.off == 0; });
}

arch::JumpBytes PatchSite::patched() const {
  if (word) {
    return arch::JumpBytes(std::span(reinterpret_cast<const uint8_t*>(&detour), sizeof detour));
  }
  if (led) return *led;
  if (!jump) {
    return {arch::kInt3};
  }
  if (form) {
    return arch::jump_bytes(form->region, form->placement, form->stub);
  }
  const auto distance = static_cast<int64_t>(detour - (address + 5));
  const auto rel32 = static_cast<int32_t>(distance);
  CHECK(distance == rel32);  // the detour could be built there, so it is in reach
  arch::JumpBytes bytes = {0xe9, 0, 0, 0, 0};
  memcpy(&bytes[1], &rel32, sizeof rel32);
  return bytes;
}

}  // namespace dj
