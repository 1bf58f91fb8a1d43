// SPDX-License-Identifier: Apache-2.0
// Plans that are kept between sessions: of scripts that probe whole functions by wildcards, in
// thousands, and ask for no target variables. Such a plan depends on the points, on the objects'
// symbols and on nothing else.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "compiler/resolve/resolve.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// Says all that the plan depends on: two plans of one build of djtap with the same key are the
// same. Empty: plans like this one are not kept. keep_calls: of resolve().
std::string plan_key(const Program& program, const TargetFiles& files, bool keep_calls,
                     bool asks_servers = false);

// Whose functions some point means by a wildcard.
enum class Wildcards : uint8_t { None, OfExecutable, OfAllObjects };
Wildcards wildcards_of(const Program& program);
// Are they all functions, by some point?
bool means_every_function(const Program& program);
// The plan as bytes, to be used by the same build of djtap. Empty: it has what is not kept (marks,
// lines, target variables ...), or is so small that resolving it is as fast.
std::string pack_plan(const Plan& plan);
// What pack_plan() gave; empty: these are not such bytes.
std::optional<Plan> unpack_plan(std::span<const char> bytes);

}  // namespace dj
