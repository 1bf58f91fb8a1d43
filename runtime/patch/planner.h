// SPDX-License-Identifier: Apache-2.0
// Planner makes the patches of one module. First it gathers candidates: hooks, then sites, then
// what the exits of probed functions call. Then the machine's checks judge all of them in one call.
// Then the candidates that remain become places.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/patch/hooks.h"
#include "runtime/patch/patch_plan.h"
#include "runtime/patch/tail_calls.h"

namespace dj {

// Candidate: one region to check, and what it is for.
struct Candidate {
  arch::Region region;  // ELF addresses
  SiteId site = 0;
  bool hook = false;
  bool essential = false;  // hook: without it the set is useless
  arch::Leaving leaving;   // of an exit, ELF addresses
  std::vector<PatchCall> calls;
  bool of_callee = false;           // not in the probed function: only calls of it lead there
  bool object = false;              // the hook of _dl_find_object(): a plain jump or none
  std::vector<SiteId> owners = {};  // of a hook: whose calls it makes
};
// Whether the candidate can be a jump of five free bytes. A hook must be one: it stands before any
// int3 may.
inline bool is_plain(const Candidate& c) { return arch::is_plain(c.region); }

// Way: one way to plan all patches. plan_patches() tries one after the other until one works.
struct Way {
  bool with_trap = false;  // SIGTRAP is set up: int3 and guards are possible
  arch::Guards guards = arch::Guards::None;
  bool live = false;
};

// Planner: the patches of one module.
class Planner {
 public:
  Planner(const PatchInput& input, size_t module, const Way& way, PatchPlan& out,
          ModuleCodes& codes, TailCalls& tails)
      : input_(input),
        plan_(input.plan),
        module_(input.modules[module]),
        index_(module),
        way_(way),
        out_(out),
        codes_(codes),
        tails_(tails) {}

  // Adds the hook of a system call. Call it before add_sites(): sites at that call run in the hook.
  // Leaves out a call that no hook can stand at, unless the set needs it.
  void add_hook(const arch::Checker::Syscall& call, HookSet set);
  void add_sites(const std::vector<SiteId>& sites);  // those of this module
  // Adds the hook of _dl_find_object() at its ELF address, behind the calls that stand there. Call
  // it after add_sites().
  void add_object_hook(uint64_t address);
  // Adds the places in a function that may return for a probed one.
  void add_callee(const TailCalls::Step& step);
  // Checks all candidates; true if an int3 is among the probes.
  bool check();
  // Returns the reason why an essential hook is impossible; empty: all are possible.
  std::string missing_hook() const;
  // Adds to `refused` the sites that cannot be installed, each with the reason. int3_refused: why
  // no place may be an int3; empty: one may.
  using Refused = std::map<SiteId, std::string>;
  void refuse(const std::string& int3_refused, Refused& refused) const;
  // Appends all others to the plan.
  void finish(const Refused& refused);

 private:
  void add_exits(SiteId id);
  Candidate* hook_at(const arch::Region& region);
  Candidate* hook_from(const Site& site);
  void bare_hooks(std::vector<arch::Region>& regions) const;
  void skip_site(SiteId id, std::string reason);
  bool is_jump(const Candidate& c) const {
    const bool bare = c.hook || c.object;
    return c.region.verdict == arch::Verdict::Ok && (bare ? is_plain(c) : input_.options.optimize);
  }
  std::string problem(const Candidate& c, const std::string& int3_refused) const;
  uint64_t place_of(const Candidate& c) const;
  BoxedOptional<arch::Leaving> leaving_of(const Candidate& c) const;
  void join(PatchSite& place, Candidate& c) const;
  Result<PatchSite> make(const Candidate& c) const;
  Result<ModuleCode*> look();

  const PatchInput& input_;
  const Plan& plan_;
  const MappedModule& module_;
  size_t index_;
  Way way_;
  PatchPlan& out_;
  ModuleCodes& codes_;
  TailCalls& tails_;
  ModuleCode* code_ = nullptr;
  std::vector<Candidate> candidates_;
};

}  // namespace dj
