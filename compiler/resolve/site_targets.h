// SPDX-License-Identifier: Apache-2.0
// What a probe's target expressions are at one site, and the mistakes among them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/debuginfo/module.h"
#include "compiler/diag/diag.h"
#include "compiler/resolve/other_objects.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

struct SiteTargets {
  std::vector<TargetPlan> targets;  // by TargetId
  ReturnCapture capture;            // values of a .return probe that its entry must store
};

// A live target without a value: the site cannot carry the probe.
struct TargetMistake {
  TargetId target = 0;
  TargetFailure failure;
};

// Looks all targets of the probe up at the site; those without a value that nobody reads are
// Undefined.
std::vector<TargetMistake> plan_targets(const Program& program, const Probe& probe,
                                        const Site& site, Module& file, OtherObjects& others,
                                        SiteTargets& out);

// One error for the failure, at the place in the script where the name or the member stands.
Diag& report_failure(const TargetExpr& expr, const TargetFailure& failure, Diags& diags);

// The same for a site's mistake, which says where.
void report_mistake(const Probe& probe, const TargetMistake& mistake, const Site& site,
                    Module& file, size_t site_count, Diags& diags);

// Turns an entry value into a read of the capture, in place; fails when the capture is full.
// lenient: it may be unreadable.
std::optional<TargetFailure> capture_word(LocExpr& value, bool lenient, ReturnCapture& capture);

// Where the expressions of an entry, return or statement site are evaluated.
ProbePlace place_of(const Site& site);

// A string that is equal exactly when the targets are.
std::string key_of(const SiteTargets& targets);

}  // namespace dj
