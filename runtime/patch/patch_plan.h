// SPDX-License-Identifier: Apache-2.0
// PatchPlan says which bytes djtap changes where. plan_patches() makes it from Plan sites: it finds
// exits, checks regions and joins handlers at one address. It reads files and TargetFacts, so it
// needs no process and no stopped thread.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/image.h"
#include "compiler/stages/plan.h"
#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/patch/site_names.h"
#include "runtime/patch/target_facts.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// PatchOptions: what the user wants of all places.
struct PatchOptions {
  bool optimize = true;  // false: every site stays an int3
  arch::Guards guards = arch::Guards::WhereNeeded;
  arch::Guards guards_wanted() const { return optimize ? guards : arch::Guards::None; }
  bool overlap = true;    // jumps may share bytes (arch::Neighbours): none is removed alone
  bool switched = false;  // handlers will be switched on and off
  bool live = false;      // write text while threads run, if SIGTRAP can be had for that
};

// PatchInput: all that a plan of patches depends on, besides the modules' files.
struct PatchInput {
  const Plan& plan;
  const std::vector<MappedModule>& modules;  // of the target, ascending
  PatchOptions options = {};
  TargetFacts facts = {};
  // plan_patches() leaves modules before this one alone: the session has probed them already.
  size_t first_module = 0;
  // By handler: all that it does is to add to a word (counting_handlers()). Empty: none is so.
  std::vector<bool> counting = {};

  bool is_dlopened() const { return first_module > 0; }
  bool is_live() const { return options.live && facts.is_running && !is_dlopened(); }
};

// Makes PatchInput::counting for handlers with these ABIs.
std::vector<bool> counting_handlers(const std::vector<HandlerAbi>& abis,
                                    const PatchOptions& options);

struct PatchPlan {
  std::vector<PatchSite> sites;  // places of probes, skipped ones too
  std::vector<PatchSite>
      hooks;          // system call hooks: jumps that must stand before any site is armed
  bool live = false;  // SIGTRAP can be had: text may be written while threads run
  bool sets_gs_base =
      false;  // code of a module may, and djtap would not see it (arch/x86_64/gs_base.h)
  bool expects_int3 = false;  // of objects that are opened later; SIGTRAP can be had
  std::string no_int3;        // why no place can be an int3; of a plan that wants some. Not kept
  SiteNames names;
  // The key under which djtap keeps the plan, and what belongs to it, between sessions
  // (patches_key()); empty: djtap does not keep it.
  std::string key;
  // Whether an int3 is among the sites, or may come among them, for a moment or later.
  bool needs_trap() const;
};

// Makes the patches of the input's plan. Takes the modules' code from `codes`, which reads and
// analyses it where needed. A place that cannot be probed is among `sites` as Skipped, with the
// reason. The sites have no names yet: find_patches() adds them.
PatchPlan plan_patches(const PatchInput& input, ModuleCodes& codes);

// Prints the plan: one line for each place, with ELF addresses (--dump=patches).
std::string dump(const PatchPlan& patches, const std::vector<MappedModule>& modules);

}  // namespace dj
