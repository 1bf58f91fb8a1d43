// SPDX-License-Identifier: Apache-2.0
// Installation: leads the text of one process to Detours, and back. Three steps, so that the target
// is stopped only where it must be: prepare() looks at the process, place() takes the detours,
// arm() and disarm() patch text.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/layout.h"
#include "runtime/detours/detours.h"
#include "runtime/detours/switches.h"
#include "runtime/install/call_rebinding.h"
#include "runtime/install/got_slots.h"
#include "runtime/install/guard_watch.h"
#include "runtime/install/led_jumps.h"
#include "runtime/install/traps.h"
#include "runtime/memory/session_memory.h"
#include "runtime/patch/installed_site.h"
#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/patch/patch_plan.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"
#include "runtime/shared/fault_gates.h"
#include "runtime/target/arm_report.h"
#include "runtime/text/journal.h"
#include "runtime/text/page_copies.h"
#include "runtime/text/site_text.h"
#include "runtime/text/text_image.h"
#include "runtime/text/thread_moves.h"

namespace dj {

class Installation {
 public:
  // Looks at the process, which may run: at the words of its GOTs, and at the code that its signal
  // frames return to. `modules`: all of the process. shares_trap: of later objects, where the
  // session has set SIGTRAP up already. `layout` gives the room of the trap table. pid 0: there is
  // no process to look at (tests).
  static Installation prepare(const DetourPlan& plan, const std::vector<MappedModule>& modules,
                              const Layout& layout, pid_t pid, ModuleCodes& codes,
                              bool shares_trap = false);
  Installation(Installation&&) noexcept = default;

  // Bytes of the session's journal.
  uint64_t journal_bytes(DetourPlan& plan);
  // Begins to make the pages that will be written the process's own, in another thread. The process
  // may run meanwhile.
  void copy_ahead(pid_t pid, DetourPlan& plan);
  void pause_copies() { ahead_.copying->pause(); }  // between that and ready()
  void go_on_with_copies() { ahead_.copying->go_on(); }

  // Takes the detours, which were built in the code areas of `memory` from the plan of prepare(),
  // and fills the trap table. Sites that trap and find no room there become Skipped. The arena must
  // be formatted. The target may run meanwhile.
  void place(Detours detours, SessionMemory& memory);
  // What arm() needs no stopped threads for; it does the rest then, faster. Waits for copy_ahead(),
  // which it begins where nobody has. The process may run meanwhile.
  Status ready(pid_t pid);
  // Patches the text. Afterwards handlers run as soon as `stopped` is released. With
  // PatchOptions::live most sites are written while all threads but one run again.
  // denied: the system calls that handlers must not make (runtime/shared/denied.h).
  Status arm(Stopped& stopped, uint64_t denied = 0);
  // Is SIGTRAP the session's? And may more sites be an int3?
  bool has_trap() const { return traps_.is_set(); }
  bool may_trap() const { return traps_.may_trap(); }
  // Sites of modules that are not among `now`, or whose text is the file's again, are Gone: the
  // module was unmapped, and perhaps mapped anew. Returns where those begin that are among `now`.
  // The process runs, but its loader. now: ascending.
  std::set<uint64_t> find_gone_sites(const RunningMemory& memory,
                                     const std::vector<MappedModule>& now);
  // Puts all original bytes back and verifies them; the code areas stay. Idempotent.
  Status disarm(Stopped& stopped);
  // Behind that: threads that stand in a detour, at one of the addresses `inside`, go on where the
  // instructions of its text stand.
  Status send_home(const Stopped& stopped, const std::vector<uint64_t>& inside);
  // Behind that, when whatever else the session has changed is as it was, too: nobody need clean
  // the process any more.
  void finish(pid_t pid);

  // Switches handlers (switches.h), from place() on; places whose text is the original again are in
  // text_work() afterwards.
  void switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by);
  TextWork text_work();
  // Sites that are Skipped or Gone stay so.
  Status do_text_work(Stopped& stopped, const TextWork& work);

  // Guarded jumps at whose guards more than `limit` threads have arrived since this was asked last,
  // and those that were weighed long enough: by index.
  std::vector<size_t> hot_guards(uint64_t limit);
  // Sites at which a thread has arrived where a jump table should have said so, each given once:
  // "f+0x9 /usr/bin/program". Nothing is amiss, as the thread went on in the detour.
  std::vector<std::string> misread_tables();
  // Gives these a form without guards while armed. For those that have none the jumps to their
  // guards are looked for (led_jumps.h), and led to their detours. Those that are hot all the same
  // are weighed: their first byte is an int3, too, until it is known whether more threads hit the
  // site or arrive at its guards; then they are an int3, or keep their guards.
  Status cool_guards(Stopped& stopped, const std::vector<size_t>& hot);
  // Begins to look for such jumps, where some are wanted; the process may run. Says that they are
  // known and wait to be led.
  bool look_for_led_jumps(const ReadText& read_text);
  // Leads those. A site for which there are none is added to `hot`, for cool_guards().
  Status lead_jumps(Stopped& stopped, std::vector<size_t>& hot);

  // Calls that may lead straight to detours (rebound_calls.h): begins to look for them, beside,
  // once; ends that, before all stand; says that there are some; takes some without what `sites`,
  // all places of it, forbid (false: none remains); writes these. Behind arm().
  void look_for_rebindable_calls(pid_t pid, const ReadText& read_text);
  bool is_looking_for_rebindable_calls() const { return led_.calls.is_looking(); }
  // Ends that, and the search of led jumps.
  void end_looking() {
    led_.calls.end_looking();
    led_.jumps.end_looking();
  }
  bool has_rebindable_calls() const { return led_.calls.is_found(); }
  bool choose_calls_to_rebind(const SiteList& sites) { return led_.calls.choose(sites); }
  Status rebind_calls(Stopped& stopped);

  // signal_stacks.cpp. Bytes of the alternate signal stack that the program has just asked for and
  // on which a trap would kill it: it waits until withdraw_traps() has made all places that trap
  // Skipped. 0: none.
  uint64_t small_stack() const { return traps_.wanted_none(); }
  // As if the program had asked for such a stack; `why`: kNoSigreturn or kTraced of TrapTable.
  void want_no_traps(uint64_t why) { traps_.want_none(why); }
  // Does an armed place trap: an int3, or a guard where threads have arrived more than once (a
  // program comes to its main() once)?
  bool is_met_by_traps() const;
  Status withdraw_traps(Stopped& stopped);

  // Addresses of the OwnAreas (runtime/shared/own_code.h) of its code; none before place().
  std::vector<uint64_t> own_code() const {
    return detours_ ? detours_->writer.own_code() : std::vector<uint64_t>();
  }
  // Its code area in which this address of the target lies; null: in none.
  CodeArea* area_at(uint64_t address) {
    return detours_ ? detours_->writer.areas().area_at(address) : nullptr;
  }
  // From place() on.
  Detours& detours() { return *detours_; }
  const Detours& detours() const { return *detours_; }

  // One entry per place and Plan site, by SiteId, then address. After arm() the states are final. A
  // probe at a hooked system call is among them, but is not switched off before its hook is.
  std::vector<InstalledSite> sites() const;
  std::vector<InstalledSite> skipped_sites() const;
  bool can_be_hit() const;  // not all of them are Skipped
  const InstallTimes& times() const { return times_; }
  SiteMemory site_memory() const;  // site_memory.h
  size_t armed_count() const;      // places of probed functions whose text is patched
  bool is_in_text();               // is anything of it in the text, hooks too?

 private:
  Installation() = default;
  PatchPlan& patches() { return detours_->plan.patches; }
  const PatchPlan& patches() const { return detours_->plan.patches; }
  const std::vector<MappedModule>& modules() const { return detours_->plan.modules; }
  std::vector<InstalledSite> list(bool skipped_only) const;
  void make_trap_table(const SessionMemory& memory);
  void share_trap_table();  // of the session, for objects that came later
  void find_gates(const SessionMemory& memory);
  uint64_t led_jumps_room(const DetourPlan& plan) const;  // in the journal
  SiteList all_others();  // that have no handlers: words, and jumps that are led elsewhere
  uint64_t guard_traps(const PatchSite& site) const { return traps_.hits(site, site.guards()); }
  std::vector<const PatchSite*> armed_samples();
  void find_live_sites();
  SiteList live_ones(const SiteList& sites, bool live) const;
  Status make_int3(PatchSite& site);
  // `site`: not in the text. On failure nothing has changed.
  Status drop_guards(Stopped& stopped, PatchSite& site);
  // true: some sites are Skipped now
  Result<bool> refuse_traps(Stopped& stopped, uint64_t denied);
  // All threads of `stopped` but one are let go, then and now stopped for a moment.
  Status write_live(Stopped& stopped, const SiteList& sites);
  // Where that is not possible: the same sites while all threads stand.
  Status write_stopped(Stopped& stopped, const SiteList& sites);
  Status restore_live(Stopped& stopped, const SiteList& sites, std::string& damage);
  Status abandon_live(Stopped& stopped, const SiteList& sites);

  // What arm() writes and where threads go, for those sites that were Registered when it was made.
  struct Staged {
    TextImage text, got;
    Detouring detouring;
    std::vector<TextPatch> hooks, sites, words;
    bool live = false;
  };
  void stage_text(Staged& staged, const SiteList& hooks, const SiteList& still);
  Status stage_journal(const SiteList& hooks, const SiteList& sites);
  Status stage(Staged& staged);
  Status check_all(Stopped& stopped, Staged& staged, uint64_t denied);

  std::optional<Detours> detours_;  // from place() on
  Switches switches_;
  // What else leads to detours than the jumps at sites.
  struct Led {
    GotSlots words;
    LedJumps jumps;
    CallRebinding calls;
  } led_;
  std::vector<uint64_t> restorers_;  // code that signal frames return to
  Traps traps_;
  // Where the FaultGates are that handlers of faults are called through, and the code of gate 0; 0:
  // another installation has them.
  struct Gates {
    uint64_t at = 0, code = 0;
  } gates_;
  std::optional<Journal> journal_;  // from place() on
  // What is done before the threads stand.
  struct Ahead {
    std::unique_ptr<PageCopying> copying;  // from copy_ahead() to ready()
    std::optional<Staged> staged;          // from ready() to arm()
  } ahead_;
  std::vector<std::pair<uint32_t, size_t>> samples_by_module_;  // of armed_samples(), by index
  GuardWatch guards_;
  std::vector<size_t> trapping_;  // indexes of sites that were built to trap, ascending
  InstallTimes times_;
};

}  // namespace dj
