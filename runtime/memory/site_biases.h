// SPDX-License-Identifier: Apache-2.0
// write_biases() writes the load biases of sites into the arena: handlers read static variables by
// them.
#pragma once
#include <span>
#include <vector>

#include "runtime/patch/patch_plan.h"
#include "runtime/process/mapped_module.h"
#include "runtime/shared/abi.h"

namespace dj {

// Writes the biases of all sites of the plan. A file that is mapped twice has two biases and one
// SiteInfo: static variables are then those of the place that the plan has first. infos: djtap's
// view of the target's SiteInfos. `modules`: by PatchSite::module.
void write_biases(std::span<abi::SiteInfo> infos, const PatchPlan& patches,
                  const std::vector<MappedModule>& modules);

}  // namespace dj
