// SPDX-License-Identifier: Apache-2.0
// Answers Lua tapsets from the target's files.
#pragma once
#include <memory>

#include "compiler/resolve/resolve.h"
#include "compiler/stages/target_index.h"

namespace dj {

// Files are opened when first asked about; it holds them open while it lives.
std::unique_ptr<TargetIndex> make_target_index(const TargetFiles& files);

}  // namespace dj
