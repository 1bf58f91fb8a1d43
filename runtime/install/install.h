// SPDX-License-Identifier: Apache-2.0
// Installation leads the text of one process to Detours, and back. It has three steps, so that the
// target is stopped only where it must be: prepare() looks at the process, place() takes the
// detours, arm() and disarm() patch text.
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
  // frames return to. `modules`: all of the process. shares_trap: of dlopened objects, where the
  // session has set SIGTRAP up already. pid 0: there is no process to look at (tests).
  static Installation prepare(const DetourPlan& plan, const std::vector<MappedModule>& modules,
                              const Traps& traps, pid_t pid, ModuleCodes& codes);
  Installation(Installation&&) noexcept = default;

  // Returns how many bytes the journal of this installation needs.
  uint64_t journal_bytes(DetourPlan& plan);
  // Begins, in another thread if they are many, to give the process its own copies of the pages
  // that djtap will write, so that arm() is faster. The process may run meanwhile. A process that
  // stands until it is armed gains by that only if they are many.
  void copy_ahead(pid_t pid, DetourPlan& plan, bool stands);
  void pause_copies();  // between that and ready()
  void go_on_with_copies();
  bool copies_ahead() const { return ahead_.copying != nullptr; }

  // Takes the detours, which build_detours() has built in the code areas of `memory` from the plan
  // of prepare(), and fills the trap table. Sites that trap and find no room there become Skipped.
  // The arena must be formatted. The target may run meanwhile.
  void place(Detours detours, SessionMemory& memory);
  // Does the part of arm() that needs no stopped threads, so that arm() is faster. Waits for
  // copy_ahead(). The process may run meanwhile.
  Status ready();
  // Patches the text. Handlers run as soon as `stopped` is released. With PatchOptions::live it
  // writes most sites while all threads but one run again. denied: the system calls that handlers
  // must not make (runtime/shared/denied.h). When a write fails, it puts the text back.
  Status arm(Stopped& stopped, uint64_t denied = 0);
  // has_trap(): SIGTRAP is the session's. may_trap(): more sites may be an int3.
  bool has_trap() const { return traps_.is_set(); }
  bool may_trap() const { return traps_.may_trap(); }
  // Makes Gone the sites of modules that are not among `now`, and those whose text is the file's
  // again: the module was unmapped, and perhaps mapped anew. Returns the begins of those modules
  // that are among `now`. The process runs, except for its loader, which waits. now: ascending.
  std::set<uint64_t> find_gone_sites(const RunningMemory& memory,
                                     const std::vector<MappedModule>& now);
  // Puts all original bytes back and verifies them; the code areas stay. Idempotent. Fails where
  // another program has changed djtap's bytes: it leaves those as they are.
  Status disarm(Stopped& stopped);
  // Sends threads that have hit an int3, and have not got their SIGTRAP, to the place again: its
  // bytes are about to change, and the hit is to be of what comes there.
  Status rewind_hits(Stopped& stopped) const {
    return has_trap() ? traps_.rewind(stopped) : ok_status();
  }
  // Sends home the threads that stand in a detour, at one of the addresses `inside`: they go on
  // where the instructions of the detour's text stand. Call it after disarm().
  Status send_home(const Stopped& stopped, const std::vector<uint64_t>& inside);
  // Enters in the journal that no djtap need clean the process any more. Call it after disarm(),
  // when all else that the session has changed is as it was, too.
  void finish(pid_t pid);

  // Switches handlers on or off (switches.h); call it from place() on. A re-enabled site whose text
  // was restored appears in text_work(); do_text_work() patches it again.
  void switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by);
  TextWork text_work();
  // Sites that are Skipped or Gone stay so.
  Status do_text_work(Stopped& stopped, const TextWork& work);

  // Returns the indexes of the guarded jumps at whose guards more than `limit` threads have arrived
  // since the last call, and of those that were weighed long enough.
  std::vector<size_t> hot_guards(uint64_t limit);
  // Returns the sites at which a thread has arrived where a jump table should have announced it:
  // "f+0x9 /usr/bin/program". It gives each site once. The thread went on in the detour, so the
  // program runs as it should.
  std::vector<std::string> misread_tables();
  // Gives these sites a form without guards while they are armed. For a site that has no such form
  // it wants the jumps to the site's guards searched (led_jumps.h), so that they can lead to its
  // detour. A site that is hot all the same is weighed: its first byte is an int3, too, until the
  // counts tell whether more threads hit the site or arrive at its guards. Then the site becomes an
  // int3, or keeps its guards.
  Status cool_guards(Stopped& stopped, const std::vector<size_t>& hot);
  // Begins to look for such jumps, where a site wants them; the process may run. True: a search has
  // ended, and its jumps wait for lead_jumps().
  bool look_for_led_jumps(const ReadText& read_text);
  // Leads those jumps to the detour. Adds a site for which there are none to `hot`, for
  // cool_guards().
  Status lead_jumps(Stopped& stopped, std::vector<size_t>& hot);

  // Calls that may lead straight to detours (call_rebinding.h), in the order of use after arm():
  // begins to look for them, once, in another thread; tells whether the search goes on; ends it
  // (before all threads stand); tells whether there are some; takes some, without those that
  // `sites`, all places of this installation, forbid (false: none remains); writes what was taken.
  void look_for_rebindable_calls(pid_t pid, const ReadText& read_text);
  bool is_looking_for_rebindable_calls() const { return led_.calls.is_looking(); }
  // Ends that search, and the search of led jumps.
  void end_looking() {
    led_.calls.end_looking();
    led_.jumps.end_looking();
  }
  bool has_rebindable_calls() const { return led_.calls.is_found(); }
  bool choose_calls_to_rebind(const SiteList& sites) { return led_.calls.choose(sites); }
  Status rebind_calls(Stopped& stopped);

  // signal_stacks.cpp. Bytes of the alternate signal stack that the program has just asked for and
  // on which a trap would kill it; 0: none. The program waits until withdraw_traps() has made all
  // places that trap Skipped.
  uint64_t small_stack() const { return traps_.wanted_none(); }
  // Acts as if the program had asked for such a stack. `why`: kNoSigreturn or kTraced of TrapTable.
  void want_no_traps(uint64_t why) { traps_.want_none(why); }
  // Whether an armed place traps: an int3, or a guard where threads have arrived more than once (a
  // program comes to its main() once).
  bool is_met_by_traps() const;
  Status withdraw_traps(Stopped& stopped);

  // Addresses of the OwnAreas (runtime/shared/own_code.h) of its code; none before place().
  std::vector<uint64_t> own_code() const {
    return detours_ ? detours_->writer.own_code() : std::vector<uint64_t>();
  }
  // Adds the addresses of its code, stubs included; none before place().
  void add_code(std::vector<AddressRange>& ranges) const {
    if (detours_) detours_->writer.areas().add_ranges(ranges);
  }
  // Returns its code area in which this address of the target lies; null: the address lies in none.
  CodeArea* area_at(uint64_t address) {
    return detours_ ? detours_->writer.areas().area_at(address) : nullptr;
  }
  // The detours, from place() on.
  Detours& detours() { return *detours_; }
  const Detours& detours() const { return *detours_; }

  // Lists one entry for each place and Plan site, by SiteId, then address. After arm() the states
  // are final. A probe at a hooked system call is among them, but its text stays until the hook's
  // is restored.
  std::vector<InstalledSite> sites() const;
  std::vector<InstalledSite> skipped_sites() const;
  bool can_be_hit() const;  // at least one is not Skipped
  const InstallTimes& times() const { return times_; }
  SiteMemory site_memory() const;  // arm_report.h
  size_t armed_count() const;      // places of probed functions whose text is patched
  bool is_in_text();               // is a place of it in the text, be it a hook?

 private:
  Installation() = default;
  PatchPlan& patches() { return detours_->plan.patches; }
  const PatchPlan& patches() const { return detours_->plan.patches; }
  const std::vector<MappedModule>& modules() const { return detours_->plan.modules; }
  std::vector<InstalledSite> list(bool skipped_only) const;
  void make_trap_table(const SessionMemory& memory);
  void share_trap_table();  // of the session, for objects that were dlopened
  void find_gates(const SessionMemory& memory);
  uint64_t led_jumps_room(const DetourPlan& plan) const;  // in the journal
  SiteList all_others();  // that have no handlers: words, and jumps that are led elsewhere
  uint64_t guard_traps(const PatchSite& site) const { return traps_.hits(site, site.guards()); }
  std::vector<const PatchSite*> armed_samples();
  void find_live_sites();
  SiteList live_ones(const SiteList& sites, bool live) const;
  Status make_int3(PatchSite& site);
  // `site`: not in the text. A failure changes nothing.
  Status drop_guards(Stopped& stopped, PatchSite& site);
  // True: it has made some sites Skipped.
  Result<bool> refuse_traps(Stopped& stopped, uint64_t denied);
  // Lets all threads of `stopped` but one go, and stops them for a moment now and then.
  Status write_live(Stopped& stopped, const SiteList& sites);
  // Writes the same sites while all threads stand, where write_live() is not possible.
  Status write_stopped(Stopped& stopped, const SiteList& sites);
  Status restore_live(Stopped& stopped, const SiteList& sites, std::string& damage);
  Status abandon_live(Stopped& stopped, const SiteList& sites);

  // Staged: what arm() writes and where threads go, for the sites that were Registered when it was
  // made.
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
  // Led: what leads to detours besides the jumps at sites.
  struct Led {
    GotSlots words;
    LedJumps jumps;
    CallRebinding calls;
  } led_;
  std::vector<uint64_t> restorers_;  // code that signal frames return to
  Traps traps_;
  // Gates: where the FaultGates are, through which the kernel calls handlers of faults, and the
  // code of gate 0; 0: another installation has them.
  struct Gates {
    uint64_t at = 0, code = 0;
  } gates_;
  std::optional<Journal> journal_;  // from place() on
  // Ahead: what is done before the threads stand.
  struct Ahead {
    std::unique_ptr<PageCopying> copying;  // from copy_ahead(), if it copies, to ready()
    std::optional<Staged> staged;          // from ready() to arm()
  } ahead_;
  std::vector<std::pair<uint32_t, size_t>> samples_by_module_;  // of armed_samples(), by index
  GuardWatch guards_;
  std::vector<size_t> trapping_;  // indexes of sites that were built to trap, ascending
  InstallTimes times_;
};

}  // namespace dj
