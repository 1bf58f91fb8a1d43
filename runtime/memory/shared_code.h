// SPDX-License-Identifier: Apache-2.0
// SharedCode is the part of linked code that is the same at every address. All further processes
// and code areas that have the code map the same pages of it.
#pragma once
#include <cstdint>
#include <functional>

#include "compiler/stages/image.h"
#include "runtime/memory/shared_file.h"

namespace dj {

struct SharedCode {
  // Null: each code area has a copy. It lives until more code is linked.
  const SharedFile* file = nullptr;
  uint64_t bytes = 0;  // from the begin of the file, and of the area; whole pages
};

// Returns the code for a process with these places.
using FindSharedCode = std::function<SharedCode(const AgentPlaces& places)>;

}  // namespace dj
