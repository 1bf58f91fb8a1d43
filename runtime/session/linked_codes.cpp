// SPDX-License-Identifier: Apache-2.0
// Copies are made of the first place of an image.
#include "runtime/session/linked_codes.h"

#include <algorithm>

#include "compiler/stages/move_linked.h"
#include "runtime/process/fresh_pages.h"

namespace dj {

const LinkedCodes::Kept* LinkedCodes::find(const Image& image, const AgentPlaces& places) const {
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return kept.places == places && kept.object == image.object;
  });
  return found != kept_.end() ? &*found : nullptr;
}

Result<Linked> LinkedCodes::link(const Image& image, uint64_t base, std::span<uint8_t> working,
                                 const AgentPlaces& places) {
  constexpr size_t kMost = 64;  // some 200 kB each
  const Kept* const kept = find(image, places);
  if (kept != nullptr) {
    copy_ = kept->bytes;
    if (move_linked(copy_, *kept->linked.moves, kept->base, base)) {
      fill_fresh_pages(working, copy_);
      return moved(kept->linked, kept->base, base);
    }
  }
  DJ_TRY(Linked linked, dj::link(image, base, working, places));
  if (kept != nullptr || !linked.moves) return linked;
  const auto used = working.first(linked.bytes_used);
  kept_.push_back({image.object, places, base, linked, {used.begin(), used.end()}});
  if (kept_.size() > kMost) kept_.pop_front();
  return linked;
}

}  // namespace dj
