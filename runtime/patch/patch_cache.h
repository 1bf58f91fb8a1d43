// SPDX-License-Identifier: Apache-2.0
// Patch plans that are kept between sessions, for plans that are kept themselves: what the safety
// checks made of their sites, with the bytes of the text, relative to where the modules
// lie. The text in memory is compared with these bytes before it is changed, as always.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/patch/patch_plan.h"

namespace dj {

// Says all that plan_patches() depends on; empty: such patches are not kept. `plan_key`: of
// ModuleCodes.
std::string patches_key(const std::string& plan_key, const PatchInput& input);
// The patches as bytes; empty: there are some that are not kept (exits that leave only sometimes).
std::string pack_patches(const PatchPlan& patches, const std::vector<MappedModule>& modules);
// What pack_patches() gave, for modules where they are now; empty: these are not such bytes.
std::optional<PatchPlan> unpack_patches(std::span<const char> bytes, const Plan& plan,
                                        const std::vector<MappedModule>& modules);

// Modules lie elsewhere each time, so what is kept numbers them by their names. By that number: the
// index.
std::vector<uint32_t> by_name(const std::vector<MappedModule>& modules);

// plan_patches(), or what it gave in an earlier session, with the sites' names.
PatchPlan find_patches(const PatchInput& input, ModuleCodes& codes);

}  // namespace dj
