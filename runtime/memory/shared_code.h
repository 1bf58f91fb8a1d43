// SPDX-License-Identifier: Apache-2.0
// SharedCode is the part of linked code that is the same at every address. All processes and code
// areas that have the code map the same pages of it: so nobody copies them.
#pragma once
#include <cstdint>
#include <functional>

#include "compiler/stages/image.h"
#include "runtime/memory/shared_file.h"

namespace dj {

struct SharedCode {
  const SharedFile* file =
      nullptr;         // null: each code area has a copy. Lives as long as the session
  uint64_t bytes = 0;  // from the file's begin, and from the area's; whole pages
};

// Returns the code for a process with these places.
using FindSharedCode = std::function<SharedCode(const AgentPlaces& places)>;

}  // namespace dj
