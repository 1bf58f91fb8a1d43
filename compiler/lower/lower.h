// SPDX-License-Identifier: Apache-2.0
// lower(): the lower() of image.h, with the Backend that its caller has for all runs.
#pragma once
#include <vector>

#include "compiler/lower/backend.h"
#include "compiler/stages/image.h"

namespace dj::ir {

Result<Image> lower(Backend& backend, const Program& program, const Plan& plan,
                    const Layout& layout, const EmitOptions& options,
                    std::vector<HandlerAbi>& abis);

}  // namespace dj::ir
