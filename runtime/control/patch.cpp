// Refusal and bytes of a patched place.
#include "runtime/control/patch.h"

#include <algorithm>

namespace dj {

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
  return {site, handler, form, true, at_exit, PatchCall::Body, 0, false};
}

bool PatchSite::any_enabled() const {
  return std::any_of(calls.begin(), calls.end(), [](const PatchCall& c) { return c.enabled; });
}

std::vector<uint8_t> PatchSite::patched() const {
  if (!jump) {
    return {arch::kInt3};
  }
  if (form) {
    return arch::writes(form->region, form->placement, form->stub).front().bytes;
  }
  Result<std::vector<uint8_t>> bytes = arch::encode_jump(address, detour);
  CHECK(bytes.ok());  // the detour could be built there, so it is in reach
  return bytes.take();
}

}  // namespace dj
