// SPDX-License-Identifier: Apache-2.0
// Texts made of target values ($$parms, $x$): the format is put together here, the handler reads
// the values, the agent writes the text. A value that cannot be read becomes ?, never an error.
#pragma once
#include "compiler/lower/locations.h"
#include "compiler/stages/plan.h"

namespace dj::ir {

// args: PushArg's of the text's locations.
Value target_text(Locations& locations, const TargetText& text,
                  const std::vector<llvm::Value*>& args, Span span);

}  // namespace dj::ir
