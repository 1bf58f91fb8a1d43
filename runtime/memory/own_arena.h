// SPDX-License-Identifier: Apache-2.0
// map_own_arena() maps the data arena of a session whose target has no memory of it: in djtap
// alone.
#pragma once
#include <memory>

#include "compiler/base/result.h"
#include "compiler/stages/layout.h"

namespace dj {

// Maps zero memory for the arena and its private part at layout.base. The arena goes with the last
// copy of what it returns. Fails when djtap has other memory there.
Result<std::shared_ptr<void>> map_own_arena(const Layout& layout);

}  // namespace dj
