// SPDX-License-Identifier: Apache-2.0
// LinkedCodes keeps what link() has made, for the next code areas and processes: a copy of it takes
// a tenth of the time.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"

namespace dj {

class LinkedCodes {
 public:
  // As link() of compiler/stages/image.h.
  Result<Linked> link(const Image& image, uint64_t base, std::span<uint8_t> working,
                      const AgentPlaces& places);

 private:
  struct Kept {
    std::vector<uint8_t> object;  // of the image
    AgentPlaces places;
    uint64_t base = 0;
    Linked linked;
    std::vector<uint8_t> bytes;
  };
  const Kept* find(const Image& image, const AgentPlaces& places) const;
  std::deque<Kept> kept_;
  std::vector<uint8_t> copy_;  // kept from one to the next
};

}  // namespace dj
