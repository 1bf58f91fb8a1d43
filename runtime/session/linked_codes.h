// SPDX-License-Identifier: Apache-2.0
// LinkedCodes keeps what link() has made, for the next code areas and processes: a copy of it takes
// a tenth of the time. Next processes map most of it (shared_code.h).
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "runtime/memory/shared_code.h"

namespace dj {

class LinkedCodes {
 public:
  // As link() of compiler/stages/image.h. shared: the first bytes of `working` are a mapping of
  // shared().
  Result<Linked> link(const Image& image, uint64_t base, std::span<uint8_t> working,
                      const AgentPlaces& places, uint64_t shared);
  // Returns what a further process may map. None: this code was not linked yet, or all of it is
  // another at another address. The next link() may close the file.
  SharedCode shared(const Image& image, const AgentPlaces& places);

 private:
  struct Kept {
    std::vector<uint8_t> object;  // of the image
    AgentPlaces places;
    uint64_t base = 0;
    Linked linked;
    std::vector<uint8_t> bytes;
    SharedFile file;  // with the first of them; of no bytes until a process asks
  };
  Kept* find(const Image& image, const AgentPlaces& places);
  std::deque<Kept> kept_;
  std::vector<uint8_t> copy_;  // kept from one to the next
};

}  // namespace dj
