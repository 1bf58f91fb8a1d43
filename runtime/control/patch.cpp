// Refusal and bytes of a patched place.
#include "runtime/control/patch.h"

namespace dj {

void PatchSite::skip(std::string why) {
  set_state(*this, SiteState::Skipped, why);
  reason = std::move(why);
}

std::vector<uint8_t> PatchSite::patched() const {
  if (!jump) {
    return {arch::kInt3};
  }
  Result<std::vector<uint8_t>> bytes = arch::encode_jump(address, detour);
  CHECK(bytes.ok());  // the detour could be built there, so it is in reach
  return bytes.take();
}

}  // namespace dj
