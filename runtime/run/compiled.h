// SPDX-License-Identifier: Apache-2.0
// Compiled holds a compiled script: what the stages leave to the session.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "compiler/resolve/resolve.h"
#include "compiler/stages/arming.h"
#include "compiler/stages/image.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "compiler/stages/timed_probes.h"
#include "runtime/command/choices.h"
#include "runtime/session/session.h"
#include "runtime/session/stack_tables.h"

namespace dj {

// Additions holds what djtap adds to the checked script, and what it remembers of that.
struct Additions {
  TimedProbes timed;  // with -t
  std::vector<Arming> armings;
  std::vector<std::vector<bool>> doubles;  // DoubleTargets of the script
  bool follows_calls = false;              // --calls: return probes have a probe at the entry, too
};

// The members stand in the order in which the stages fill them.
struct Compiled {
  ResolveHelpers helpers;
  Program program;
  Additions own;
  PatchOptions patching;
  Plan plan;
  Layout layout;
  Image image;
  std::vector<HandlerAbi> abis;
  TargetFacts facts;
  std::optional<StackTables> stacks;  // none: no handler walks stacks
  PatchPlan patches;                  // the session takes it

  StackTables* stacks_or_null() { return stacks ? &*stacks : nullptr; }
  uint64_t stack_room() const { return stacks ? stacks->room() : 0; }
};

// Returns the options of the patch plan. is_steered: whether the user may switch probes from
// outside of the script.
inline PatchOptions patch_options(const PatchingChoices& patching, bool is_steered,
                                  const Additions& own) {
  return {.optimize = patching.optimize,
          .guards = patching.guards,
          .switched = is_steered || !own.armings.empty(),
          .live = patching.live};
}

// Returns what the session takes of a compiled script.
inline SessionInput session_input(const Compiled& compiled) {
  return {compiled.program, compiled.plan, compiled.image, compiled.layout,
          compiled.stacks ? compiled.stacks->bytes() : std::span<const uint8_t>()};
}

}  // namespace dj
