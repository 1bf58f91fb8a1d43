// SPDX-License-Identifier: Apache-2.0
// Installation: a PatchPlan in one process. Three steps, so that the target is stopped only where
// it must be: prepare() takes the plan, place() writes islands, arm() and disarm() patch text.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "runtime/install/call_words.h"
#include "runtime/install/guard_watch.h"
#include "runtime/install/led_jumps.h"
#include "runtime/install/site_memory.h"
#include "runtime/install/straight_calls.h"
#include "runtime/install/traps.h"
#include "runtime/memory/detours.h"
#include "runtime/memory/session_memory.h"
#include "runtime/patch/installed_site.h"
#include "runtime/patch/kept_detours.h"
#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/patch/patch_plan.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"
#include "runtime/shared/fault_gates.h"
#include "runtime/text/journal.h"
#include "runtime/text/page_copies.h"
#include "runtime/text/site_text.h"
#include "runtime/text/text_image.h"
#include "runtime/text/thread_moves.h"

namespace dj {

struct InstallTimes {
  uint64_t prepare_ns = 0, link_ns = 0, detours_ns = 0, move_ns = 0, patch_ns = 0;
  PageCopies copies;               // before the patch, apart from it
  uint64_t live_ns = 0;            // writing text while the program runs
  size_t straight_calls = 0;       // written later (straight_calls.h),
  uint64_t straight_calls_ns = 0;  // for which the target stood so long at a time, at most
};

// What was done while the program ran: "; while it ran ..."; empty: nothing.
std::string to_string(const InstallTimes& times);

// InstallInput: what an installation must know besides its PatchPlan.
struct InstallInput {
  const Plan& plan;
  const Layout& layout;  // gives the room of the trap table
  const std::vector<HandlerAbi>& abis;
  const std::vector<MappedModule>& modules;  // of the PatchPlan
  size_t first_module = 0;                   // as in PatchInput
  pid_t pid = 0;                             // of the target
  bool switched = false;                     // handlers will be switched on and off
  bool shares_trap = false;  // of later objects: the session has set SIGTRAP up already
};

class Installation {
 public:
  // Takes what find_patches() has planned for these modules. Reads files, and GOTs of the process,
  // which may run.
  static Installation prepare(PatchPlan patches, const InstallInput& input, ModuleCodes& codes);
  Installation(Installation&&) noexcept = default;

  // Before place(): threads have no rows of their own, so counters are handlers that are called.
  void count_by_calls();
  // Code of a module may set the gs base, and djtap would not see it.
  bool sets_gs_base() const { return patches_.sets_gs_base; }

  // Image ranges of the modules that need an island, and bytes of detours that each island must
  // take at most.
  std::vector<AddressRange> island_modules() const;
  uint64_t detour_bytes();
  // Bytes of the session's journal.
  uint64_t journal_bytes();

  // For SessionMemory::create(): gives every guarded or punned jump an address to lead to.
  ChooseStubs stub_chooser();

  // Takes the code areas of `memory`, links the code there (code_bytes: link_bytes(image)) and
  // writes all detours and the trap table. The arena must be formatted. Sites that cannot be
  // reached become Skipped. The target may run meanwhile.
  Status place(SessionMemory& memory, uint64_t code_bytes, const LinkCode& link);
  // Behind arm(): leaves its detours to later sessions, by codes.remember().
  void keep_detours(ModuleCodes& codes) const;
  // Behind place(): the code that runs the handler of a sample in a thread that is sent there
  // (arch::build_sample), for row `site` of the SiteInfos; its address.
  Result<uint64_t> place_sample(HandlerId handler, SiteId site, uint64_t done);
  // Begins to make the pages that will be written the process's own, in another thread. The process
  // may run meanwhile.
  void copy_ahead(pid_t pid);
  void pause_copies() { copying_->pause(); }  // between that and ready()
  void go_on_with_copies() { copying_->go_on(); }
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
  // Puts all original bytes back and verifies them; the islands stay. Idempotent.
  Status disarm(Stopped& stopped);
  // Behind that: threads that stand in a detour, at one of the addresses `inside`, go on where the
  // instructions of its text stand.
  Status send_home(const Stopped& stopped, const std::vector<uint64_t>& inside);
  // Behind that, when whatever else the session has changed is as it was, too: nobody need clean
  // the process any more.
  void finish(pid_t pid);

  // Switches these handlers on or off, from place() on (PatchOptions::switched); a handler is off
  // as long as anybody wants it so. Nobody stands: whoever comes to a place from now on runs the
  // handlers that are on. Places whose text is the original again are in
  // text_work() afterwards.
  void switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by);
  // What switching leaves to be done to the text.
  struct TextWork {
    SiteList wake;     // not in the text, but a handler is on: until it is done nothing is counted
    SiteList rest;     // in the text, but all handlers have been off for a while: as soon as may be
    bool live = true;  // one stopped thread is enough
    bool empty() const { return wake.empty() && rest.empty(); }
  };
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

  // Calls that may lead straight to detours (straight_calls.h): begins to look for them, beside,
  // once; ends that, before all stand; says that there are some; takes some without what `sites`,
  // all places of it, forbid (false: none remains); writes these. Behind arm().
  void look_for_straight_calls(pid_t pid, const ReadText& read_text);
  bool is_looking_for_straight_calls() const { return straight_calls_.is_looking(); }
  // Ends that, and the search of led jumps.
  void end_looking() {
    straight_calls_.end_looking();
    led_jumps_.end_looking();
  }
  bool has_straight_calls() const { return straight_calls_.is_found(); }
  bool choose_straight_calls(const SiteList& sites) { return straight_calls_.choose(sites); }
  Status write_straight_calls(Stopped& stopped);

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

  // --dump=detours; behind place().
  std::string dump_detours() const { return dump(*detours_, patches_, modules_); }
  // Addresses of the OwnIslands (runtime/shared/own_code.h) of its code; behind place().
  std::vector<uint64_t> own_code() const {
    return detours_ ? detours_->own_code() : std::vector<uint64_t>();
  }
  // Its island in which this address of the target lies; null: in none.
  Island* island_at(uint64_t address) {
    return detours_ ? detours_->areas().island_at(address) : nullptr;
  }

  // One entry per place and Plan site, by SiteId, then address. After arm() the states are final. A
  // probe at a hooked system call is among them, but is not switched off before its hook is.
  std::vector<InstalledSite> sites() const;
  std::vector<InstalledSite> skipped_sites() const;
  size_t site_count() const;  // of sites()
  bool can_be_hit() const;    // not all of them are Skipped
  const InstallTimes& times() const { return times_; }
  SiteMemory site_memory() const;  // site_memory.h
  size_t armed_count() const;      // places of probed functions whose text is patched
  bool is_in_text();               // is anything of it in the text, hooks too?
  SiteList all_places();           // sites, then hooks: some have handlers too

 private:
  Installation() = default;
  std::vector<InstalledSite> list(bool skipped_only) const;
  // Sites that are nothing without others (site_text.h), when some have become Skipped.
  void skip_dependents(const std::string& reason);
  void forget_modules(size_t first);
  Status build_detours();
  void make_trap_table(const SessionMemory& memory);
  void share_trap_table();  // of the session, for objects that came later
  void find_gates(const SessionMemory& memory);
  SiteList all_sites();
  SiteList all_hooks();
  uint64_t led_jumps_room() const;  // in the journal
  SiteList all_others();  // that have no handlers: words, and jumps that are led elsewhere
  // djtap's alone: the hook of _dl_find_object(), the probe of the loader.
  bool is_own(const PatchSite& site) const {
    return site.owners.empty() ||
           (site.owners.size() == 1 && !patches_.names.is_listed(site.owners.front()));
  }
  uint64_t guard_traps(const PatchSite& site) const { return traps_.hits(site, site.guards()); }
  std::vector<const PatchSite*> armed_samples();
  template <typename Off>
  void switch_calls(const Off& off);
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

  PatchPlan patches_;
  CallWords words_;
  LedJumps led_jumps_;
  StraightCalls straight_calls_;
  std::vector<MappedModule> modules_;
  std::vector<uint64_t> restorers_;  // code that signal frames return to
  std::vector<HandlerAbi> abis_;
  abi::Header header_ = {};  // Layout's: where the arena has what
  SiteMemory bytes_;         // of detours and stubs
  Traps traps_;
  // Where the FaultGates are that handlers of faults are called through, and the code of gate 0; 0:
  // another installation has them.
  struct Gates {
    uint64_t at = 0, code = 0;
  } gates_;
  bool samples_ = false;                                        // there are timer.profile probes
  std::optional<Journal> journal_;                              // from place() on
  std::optional<Detours> detours_;                              // from place() on
  std::unique_ptr<PageCopying> copying_;                        // from copy_ahead() to ready()
  std::optional<Staged> staged_;                                // from ready() to arm()
  std::vector<std::pair<uint32_t, size_t>> samples_by_module_;  // of armed_samples(), by index
  GuardWatch guards_;
  DetourCache cache_;  // from prepare() to the end of place(); then for keep_detours()
  struct Switching {
    bool is_wanted = false;          // handlers will be switched on and off
    std::set<size_t> idle, resting;  // sites without a handler that is on; those out of the text
    std::set<uint64_t> leaning;      // addresses of sites that share bytes: they never rest
  } switching_;
  std::vector<size_t> trapping_;  // indexes of sites that were built to trap, ascending
  InstallTimes times_;
};

}  // namespace dj
