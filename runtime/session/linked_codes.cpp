// SPDX-License-Identifier: Apache-2.0
// Copies are made of the first place of an image.
#include "runtime/session/linked_codes.h"

#include <algorithm>
#include <string>

#include "compiler/base/page.h"
#include "compiler/stages/move_linked.h"
#include "runtime/process/fresh_pages.h"
#include "runtime/process/session_processes.h"

namespace dj {

LinkedCodes::Kept* LinkedCodes::find(const Image& image, const AgentPlaces& places) {
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return kept.places == places && kept.object == image.object;
  });
  return found != kept_.end() ? &*found : nullptr;
}

Result<Linked> LinkedCodes::link(const Image& image, uint64_t base, std::span<uint8_t> working,
                                 const AgentPlaces& places, uint64_t shared) {
  constexpr size_t kMost = 64;  // some 200 kB each
  const Kept* const kept = find(image, places);
  CHECK(shared == 0 || kept != nullptr);
  if (kept != nullptr) {
    copy_ = kept->bytes;
    if (move_linked(copy_, *kept->linked.moves, kept->base, base)) {
      fill_fresh_pages(working.subspan(shared), std::span(copy_).subspan(shared));
      return moved(kept->linked, kept->base, base);
    }
  }
  DJ_TRY(Linked linked, dj::link(image, base, working, places));
  if (kept != nullptr || !linked.moves) return linked;
  const auto used = working.first(linked.bytes_used);
  kept_.push_back({image.object, places, base, linked, {used.begin(), used.end()}, {}});
  if (kept_.size() > kMost) kept_.pop_front();
  return linked;
}

namespace {

// Whole pages in front of the first number that moves.
uint64_t bytes_that_stay(const Linked& linked) {
  uint64_t bytes = linked.bytes_used;
  for (const CodeMove& move : *linked.moves) bytes = std::min<uint64_t>(bytes, move.offset);
  return bytes / kPage * kPage;
}

}  // namespace

SharedCode LinkedCodes::shared(const Image& image, const AgentPlaces& places) {
  Kept* const kept = find(image, places);
  const uint64_t bytes = kept != nullptr ? bytes_that_stay(kept->linked) : 0;
  if (bytes == 0) return {};
  if (kept->file.view().empty()) {
    Result<SharedFile> made =
        SharedFile::make(std::string(kMemoryName) + "-handlers", bytes, SharedFile::Use::Read);
    if (!made.ok()) return {};
    kept->file = made.take();
    fill_fresh_pages(kept->file.view(), std::span(kept->bytes).first(bytes));
  }
  return {&kept->file, bytes};
}

}  // namespace dj
