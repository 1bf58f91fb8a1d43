// SPDX-License-Identifier: Apache-2.0
// Session: one traced process (or none), from the first look at it to the last byte put back. Owns
// the shared memory, the installed probes and the handlers that run in djtap itself.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "runtime/install/install.h"
#include "runtime/memory/debug_list.h"
#include "runtime/process/exit_watch.h"
#include "runtime/process/module_watch.h"
#include "runtime/session/sampler.h"
#include "runtime/session/semaphores.h"
#include "runtime/session/told_words.h"
#include "runtime/session/traced_process.h"

namespace dj {

struct SessionInput {
  const Program& program;
  const Plan& plan;
  const Image& image;
  const std::vector<HandlerAbi>& abis;
  const Layout& layout;
  std::span<const uint8_t> stack_tables;  // as they are at first; may be empty
  PatchOptions patching;
  TargetFacts facts;
  bool writable_text = false;  // of objects that come later, text is trusted (trust_writable())
  bool thread_rows = true;     // threads may count in rows of their own
};

// Objects that the target has opened since the session began.
struct LaterObjects {
  std::vector<MappedModule> modules;  // all of the target: those that are known, then the new ones
  size_t first_new = 0;               // == modules.size(): none
};

// Probes in them, compiled.
struct LaterInput {
  const Plan& plan;    // first_site and first_handler are set
  PatchPlan& patches;  // of the plan; taken
  const Image& image;
  const std::vector<HandlerAbi>& abis;
  const LaterObjects& objects;
};

class Session {
 public:
  // Maps the arena (in djtap alone when `process` is null), formats it, links handlers and writes
  // the detours of `patches`, which were planned for input.facts. A launched process stands still
  // until arm(), a running one only while memory is mapped into it.
  static Result<Session> create(TracedProcess* process, ModuleCodes& codes,
                                const SessionInput& input, PatchPlan patches);
  Session(Session&&) noexcept = default;

  // Runs one handler of Form::Host in djtap.
  void run_host(HandlerId handler);
  // One tick of a timer.profile probe, by its index in Plan::host_probes (sampler.h).
  void sample(size_t host_probe);
  // Of timer.profile probes; null: there are none.
  const Sampler* sampler() const { return sampler_ ? &*sampler_ : nullptr; }
  // Patches the text and lets the target run, untraced. What is written when it fails is taken out.
  Status arm();
  // Nothing for a program that was launched and has not run. Instead of arm(), or when that has
  // failed and is_in_text() does not hold: what was mapped into a running target goes.
  void leave_unarmed();
  // Not all of it could be: disarm() tries again, while the target stands.
  bool is_in_text() { return installation_ && installation_->is_in_text(); }
  // How many semaphores were not raised since it was asked last: there is no room to note them.
  size_t take_unraised() { return std::exchange(unraised_, 0); }
  // Switches handlers on or off: when it returns, whoever comes to a probe finds it so. The target
  // stands only where the text has to be written again (Installation::text_work()).
  Status switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by);
  // Empty: the target's loader has nothing to say. Else what answer_loader() must be told, when the
  // new objects are probed; the loader waits for it.
  std::optional<uint32_t> loader_event() const;
  void answer_loader(uint32_t event);
  // Whether it waits from now on: not while djtap is stopped. What it says meanwhile loader_event()
  // tells later.
  void let_loader_wait(bool waits);
  // Looks at the target's mappings; sites in objects that are gone become Gone.
  Result<LaterObjects> find_later_objects();
  size_t later_count() const { return later_.size(); }  // how often such were probed
  // These are known from now on, probed or not. One that may set the gs base ends the session.
  void know(const LaterObjects& objects, ModuleCodes& codes);
  // What patches of later objects may assume.
  TargetFacts later_facts() const;
  // Arms the probes of objects that came later. The target stands for a moment.
  Status add_later(ModuleCodes& codes, const LaterInput& input);

  // Called while the target runs, again and again: gives the text of places whose handlers are off
  // back, makes hot guards an int3, takes out what may trap when the program asks for a signal
  // stack that is too small for it (install.h), spares the calls of a program that computes
  // their detour's entry (straight_calls.h), and tells debuggers of new code (debug_list.h).
  void watch();
  // Reports, once a place, jump tables that were read wrong. watch() does; call it at the end, too.
  void tell_misread_tables();
  // Why the session must end now, for the program's sake; empty: it need not.
  std::string why_over();
  // Takes the probes out of a running target, and what was mapped there for them, as far as nobody
  // can come back to it. Not needed when it is gone.
  Status disarm();
  // The same for all processes that the target has forked, which may live longer; after disarm().
  // Returns them; clean.h.
  std::vector<pid_t> clean_forked(std::vector<std::string>& failures);

  // The arena's header as djtap has written it: its own copy, which no target can change.
  const abi::Header& header() const { return header_; }
  // The words of it that change.
  ToldWords words() const { return ToldWords(arena(), header_.words); }
  ArenaView arena() const { return {header_.arena_base, header_.arena_bytes}; }
  // Of the file that all processes of the session have mapped; 0: there is no target.
  uint64_t memory_inode() const { return memory_ ? memory_->inode() : 0; }
  // Behind arm(): what later sessions may use is left to codes.remember().
  void keep(ModuleCodes& codes) {
    if (installation_) installation_->keep_detours(codes);
  }
  const Installation* installation() const { return installation_ ? &*installation_ : nullptr; }
  // Of the installation, and of all objects that came later.
  std::vector<InstalledSite> sites() const;
  // Of the objects that came last.
  std::vector<InstalledSite> latest_sites() const {
    return later_.empty() ? std::vector<InstalledSite>() : later_.back().installation.sites();
  }
  // How long the target stood still: all stops up to arm() together.
  uint64_t arm_pause_ns() const { return arm_pause_ns_; }

 private:
  // What objects that came together need.
  struct Later {
    SessionMemory memory;
    Installation installation;
    Semaphores semaphores;
    SiteId first_site = 0;
    HandlerId first_handler = 0;
  };
  Session() = default;
  void let_go();
  Status place_samples(const Plan& plan, std::optional<int64_t> rseq_offset);
  void forget_calls(const std::set<HandlerAt>& handlers);
  // if_awaited: only if a handler is on whose place is not in the text.
  Status do_text_work(bool if_awaited);
  void withdraw_traps();
  void clear_tracee();
  void clean_child(pid_t child);
  void warn_of_denied();
  // Before the first handler runs: those do without what seccomp filters deny. Which calls.
  Result<uint64_t> obey_filters(const Stopped& stopped);
  void lead_calls();
  void write_straight_calls(Installation& installation);
  void cool(Installation& installation);
  void show_code();
  // Asked of a target that stands: one that runs may execute another program meanwhile, at whose
  // addresses anything may be.
  bool is_in_target(const Stopped& stopped);
  Result<Stopped> stop_target();  // TargetGone: it has executed another program
  Status raise(const Stopped& stopped, const Semaphores& semaphores);
  Status place_later(Later& later, const LaterInput& input, uint64_t code_bytes);
  Island* island_at(uint64_t address);  // null: in none of this session's
  void close_loader_talk();
  Status disarm_all(Stopped& stopped);
  Status send_home(Stopped& stopped);
  // Without a target the arena is djtap's own.
  Status map_own_arena(const Layout& layout);
  Status map_memory(TracedProcess& process, ModuleCodes& codes, const SessionInput& input,
                    PatchPlan patches);
  Status hold(TracedProcess& process);
  Result<bool> can_have_rows(const SessionInput& input, const Installation& installation) const;
  std::optional<SessionMemory> memory_;
  std::shared_ptr<void> host_arena_;  // without a target
  std::optional<Installation> installation_;
  Semaphores semaphores_;
  size_t unraised_ = 0;
  std::deque<Later> later_;
  KnownMaps later_maps_;  // empty before the first of them
  // Of objects that could not be probed: some thread may be in its code yet, and own_code lists it.
  std::deque<Later> spent_;
  std::vector<MappedModule> known_;
  ModuleWatch module_watch_;
  const Layout* layout_ = nullptr;
  PatchOptions patching_;
  TargetFacts facts_;
  bool writable_text_ = false;
  AgentPlaces agent_places_;
  std::optional<RseqArea> awaited_rseq_;  // the launched target has not set its control block yet
  bool has_rows_ = false;                 // thread_rows.h
  uint64_t told_denied_ = 0;              // system calls (denied.h)
  std::string gs_base_setter_;            // an object that was opened and may set the gs base
  std::optional<Stopped> stopped_;
  UnstartedChild unstarted_;  // dies before stopped_
  Linked host_;
  abi::Header header_ = {};
  uint64_t capture_handlers_ = 0;  // that the arena has room for
  uint32_t answered_ = 0;          // what the loader has been told
  pid_t pid_ = 0;
  uint64_t watch_next_ns_ = 0;
  DebugList debug_list_;
  size_t shown_ = 0;             // OwnIslands that it shows
  uint64_t used_at_arm_ns_ = 0;  // processor_ns() of the target
  uint64_t show_next_ns_ = 0;
  ReadText read_text_;
  std::optional<Sampler> sampler_;
  std::map<size_t, Sampler::Point> sample_points_;  // by index in Plan::host_probes
  uint64_t arm_pause_ns_ = 0;
};

// Fails (Unsupported) where a thread catches system calls: those of handlers would never come back.
Status check_uncaught(const Stopped& stopped);

// What handlers that make none of these system calls (runtime/shared/denied.h) cannot do: "; reads
// of memory are errors"; empty: they do without.
const char* what_fails(uint64_t denied);

// Where the arena of this session can lie: free in djtap and in `process` (null: djtap alone).
Result<uint64_t> find_arena_base(const TracedProcess* process, uint64_t bytes);

}  // namespace dj
