// SPDX-License-Identifier: Apache-2.0
// The patch cache keeps PatchPlans between sessions, for plans that djtap keeps as well. A kept
// PatchPlan holds what the safety checks made of the plan's sites, with the bytes of the text,
// relative to where the modules lie. Before djtap changes text it compares the target's memory with
// these bytes, as it does for every plan.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/patch/patch_plan.h"

namespace dj {

// Returns a key that says all that plan_patches() depends on; empty: djtap does not keep such
// patches. `plan_key`: of ModuleCodes.
std::string patches_key(const std::string& plan_key, const PatchInput& input);
// Returns the patches as bytes. Empty: some of them are of a kind that djtap does not keep (exits
// that leave only sometimes).
std::string pack_patches(const PatchPlan& patches, const std::vector<MappedModule>& modules);
// Reads what pack_patches() gave, for modules where they lie now; empty: these are not such bytes.
std::optional<PatchPlan> unpack_patches(std::span<const char> bytes, const Plan& plan,
                                        const std::vector<MappedModule>& modules);

// Orders modules by their names, since they lie elsewhere in each session: kept patches number
// modules by this order. Returns the index in `modules` for each such number.
std::vector<uint32_t> by_name(const std::vector<MappedModule>& modules);

// Returns what plan_patches() gives, or what it gave in an earlier session, with the sites' names.
PatchPlan find_patches(const PatchInput& input, ModuleCodes& codes);

}  // namespace dj
