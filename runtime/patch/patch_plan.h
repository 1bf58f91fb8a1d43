// SPDX-License-Identifier: Apache-2.0
// PatchPlan: from Plan sites to physical places: exits found, regions checked, handlers at one
// address joined. Looks at files, and at the words of the target through which functions are
// called.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/plan.h"
#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"

namespace dj {

struct PatchOptions {
  bool optimize = true;  // false: every site stays an int3
  arch::Guards guards = arch::Guards::WhereNeeded;
  arch::Guards guards_wanted() const { return optimize ? guards : arch::Guards::None; }
  bool lean = true;       // jumps may share bytes (arch::Neighbours): none is removed alone
  bool switched = false;  // handlers will be switched on and off
  bool use_rseq = true;   // handlers trust the rseq area: hook vfork and clone
  bool live = false;      // write text while threads run, if SIGTRAP can be had for that
  // A seccomp filter of the target denies the system call that an int3 returns by.
  bool no_sigreturn = false;
  // Modules before this one are left alone: the session has probed them already.
  size_t first_module = 0;
  bool has_trap = false;       // first_module > 0: the session has set SIGTRAP up
  bool writable_text = false;  // of objects that come later, text is trusted (trust_writable())
  pid_t pid = 0;               // the target; 0: there are only files
  pid_t words_pid = 0;  // a copy of it whose imports are bound, when the target's are not; 0: none
  pid_t words_of() const { return words_pid != 0 ? words_pid : pid; }  // whose are looked at
  // By handler: it does nothing but add to a word (HandlerAbi::count_word). Empty: none does.
  std::vector<bool> counting;
};

struct PatchPlan {
  std::vector<PatchSite> sites;  // places of probes, skipped ones too
  std::vector<PatchSite>
      hooks;          // system call hooks: jumps that must stand before any site is armed
  bool live = false;  // SIGTRAP can be had: text may be written while threads run
  bool sets_gs_base =
      false;  // code of a module may, and nobody would see it (arch/x86_64/gs_base.h)
  bool expects_int3 = false;  // of objects that are opened later; SIGTRAP can be had
  std::string no_int3;        // why no place can be an int3; of a plan that wants some. Not kept
  // An int3 is among the sites, or may be, for a moment or later.
  bool needs_trap() const;
};

PatchPlan plan_patches(const Plan& plan, const std::vector<MappedModule>& modules,
                       ModuleCodes& codes, const PatchOptions& options);

}  // namespace dj
