// SPDX-License-Identifier: Apache-2.0
// The @operators of the language by name: which read an aggregate, which are known but not built
// yet.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/stages/program.h"

namespace dj {

// "count" -> StatOp::Count ...; nullopt for every other name.
std::optional<StatOp> stat_op(std::string_view name);
std::string_view stat_op_name(StatOp op);
bool is_histogram(std::string_view name);   // hist_log, hist_linear, hist
bool is_unbuilt_at(std::string_view name);  // SystemTap has it, djtap does not yet
std::vector<std::string> known_at_names();  // for suggestions, without the '@'

}  // namespace dj
