// Names and bytes of a patched place.
#include "runtime/control/patch.h"

namespace dj {

const char* site_state_name(SiteState state) {
  switch (state) {
    case SiteState::Planned:
      return "PLANNED";
    case SiteState::Optimized:
      return "OPTIMIZED";
    case SiteState::Int3:
      return "INT3";
    case SiteState::Skipped:
      return "SKIPPED";
    case SiteState::Disabled:
      return "DISABLED";
    case SiteState::Gone:
      return "GONE";
  }
  return "?";
}

void PatchSite::skip(std::string why) {
  state = SiteState::Skipped;
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
