// SPDX-License-Identifier: Apache-2.0
// ProcessTarget is a process as a Target. It stops the process by ptrace, maps the session's memory
// into it, and leads its text to detours (runtime/install). The files process_*.cpp beside this one
// hold an ability each.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/install/install.h"
#include "runtime/memory/debug_list.h"
#include "runtime/memory/known_maps.h"
#include "runtime/memory/session_memory.h"
#include "runtime/memory/told_words.h"
#include "runtime/process/module_watch.h"
#include "runtime/target/process/sampler.h"
#include "runtime/target/process/stand_again.h"
#include "runtime/target/process/traced_process.h"
#include "runtime/target/target.h"

namespace dj {

// OffHandlers: bits of OffBy of handlers that are off, by the address of the instruction that they
// precede, and by their probe.
using OffHandlers = std::map<std::pair<uint64_t, ProbeId>, uint8_t>;
// Adds those of `sites`.
void add_off(const std::vector<InstalledSite>& sites, OffHandlers& off);

// Returns the bits of OffBy of a site's handler, by its index, in a process that joins.
using FindOff = std::function<uint8_t(const InstalledSite& site, size_t handler)>;

// ProcessInput: what a ProcessTarget must know besides its process.
struct ProcessInput {
  TargetFacts facts;              // of the process, those that the handlers are compiled for
  bool writable_text = false;     // writable text of dlopened objects is trusted (trust_writable())
  bool thread_rows = true;        // threads may count in rows of their own (thread_rows.h)
  uint64_t capture_handlers = 0;  // that the arena has room for (capture_handlers())
  // Of a further process of the session: the data of the arena, and the process's number among
  // those that have data for traps (TrapsAt::processes).
  const SharedFile* data = nullptr;
  uint32_t number = 0;
  FindSharedCode shared_code = {};  // empty: it has its own
  FindOff off = {};                 // empty: all handlers are on from the begin on
};

class ProcessTarget : public Target {
 public:
  // `process`, `codes`: live as long as this object; map() takes the stopped threads of a launched
  // process.
  ProcessTarget(TracedProcess& process, ModuleCodes& codes, ProcessInput input);
  // The same with a process of its own.
  ProcessTarget(std::unique_ptr<TracedProcess> process, ModuleCodes& codes, ProcessInput input);

  const std::vector<MappedModule>& objects() const override { return objects_.known; }
  TargetFacts facts() const override;
  int pid() const override { return process_.pid; }
  SessionFacts arena_facts() const override;
  AgentPlaces agent_places() const override { return threads_.places; }

  Result<CodeAreas> map(DetourPlan& plan, const Layout& layout) override;
  void place(Detours detours, const abi::Header& header) override;
  Status arm() override;
  void abandon() override;
  Status restore() override;
  uint64_t constants() const override { return memory().constants(); }
  // Of the session's first process: the arena's data; and the input of a further process, but for
  // its facts and its number. Call them after map().
  const SharedFile& data() const { return memory().data(); }
  ProcessInput input_of_further() const;
  bool has_ended() const override;
  bool is_in_text() override { return !sets_.empty() && sets_.front().installation.is_in_text(); }
  // Puts all bytes back as restore() does, but the session goes on: the process, which stands from
  // there on, is to be probed anew. serve: stand_again().
  Result<TracedProcess> leave(const Serve& serve);
  // The inodes of the files of its memory that hold journals.
  std::set<uint64_t> memories() const;
  // Enters in these journals that djtap does not need them any more: the process has ended.
  void finish_journals();
  ForksLeft restore_forks(const MemoryUsers& users) override;
  bool has_forks(const std::set<uint64_t>& memories) const override;
  void keep() override;

  Status switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) override;
  // Restores the original text at sites whose handlers have been off for 300 ms. Gives hot guards
  // another form. Takes out all places that may trap when the program asks for a signal stack that
  // is too small for a trap. Leads calls straight to detours in a program that computes. Tells
  // debuggers of new code.
  void poll() override;
  std::string why_over() const override;
  void sample(size_t host_probe) override;
  void report_misread_tables() override;

  std::optional<uint32_t> objects_event() const override;
  void answer_objects(uint32_t event) override;
  void let_wait(bool waits) override;
  Result<DlopenedObjects> find_objects() override;
  void know(const DlopenedObjects& objects) override;

  std::vector<InstalledSite> sites() const override;
  std::vector<InstalledSite> latest_sites() const override;
  std::vector<InstalledSite> skipped_sites() const override;
  bool can_be_hit() const override { return first().can_be_hit(); }
  bool watches_objects() const override { return first().has_trap(); }
  ArmReport report() const override;
  std::string dump_detours() const override { return dump(first().detours()); }
  // Warns of processes that the target had started before the session.
  void warn_of_unprobed() override;
  size_t take_unraised() override { return std::exchange(watch_.unraised, 0); }

 private:
  // ProbeSet: what came into the process together.
  struct ProbeSet {
    SessionMemory memory;
    Installation installation;
  };
  const Installation& first() const { return sets_.front().installation; }
  Installation& first() { return sets_.front().installation; }
  const SessionMemory& memory() const { return sets_.front().memory; }
  ToldWords words() const { return ToldWords(arena(), header_.words.address(place())); }
  abi::Arena place() const { return abi::arena_of(&header_); }
  ArenaView arena() const { return {header_.arena_base, header_.arena_bytes}; }

  // process_target.cpp
  Status hold();
  Result<bool> can_have_rows(const DetourPlan& plan, const Layout& layout) const;
  Result<CodeAreas> map_first(DetourPlan& plan, const Layout& layout);
  Result<SessionMemory> map_memory(const Layout& layout, const MemoryRequest& request);
  Traps traps() const;
  Result<CodeAreas> map_dlopened(DetourPlan& plan);
  void let_go();
  Status arm_first();
  Status prepare_threads();
  Status note_seen_objects(const Stopped& stopped);
  Status raise(const Stopped& stopped, const Detours& detours);
  Status restore_all(Stopped& stopped);
  Status take_out(Stopped& stopped, ProbeSet& set);
  Status send_home(Stopped& stopped);
  void note_samples(const Detours& detours);
  void switch_off(Installation& installation) const;
  uint64_t end_wanted() const;  // EndReason
  void count_left_calls_of(const Stopped& stopped) const;
  // process_objects.cpp
  Result<Stopped> stop_target();  // TargetGone: it has executed another program
  Status arm_dlopened();
  void abandon_dlopened();
  void close_loader_talk();
  // process_leave.cpp
  Result<Stopped> stop_outside(const Serve& serve);
  // process_watch.cpp
  // Whether the session's memory is still in the target. Call it while the target stands: one that
  // runs may execute another program meanwhile, at whose addresses there may be other things.
  bool is_in_target(const Stopped& stopped) const;
  Status check_in_target(const Stopped& stopped) const;  // TargetGone: it is not
  Status do_text_work(bool if_awaited);  // if_awaited: only if a place is to be written again
  void warn_of_denied();
  // Makes handlers do without the system calls that seccomp filters deny; returns these calls. Call
  // it before the first handler runs.
  Result<uint64_t> obey_filters(const Stopped& stopped);
  void cool(Installation& installation);
  void poll_later();
  uint64_t computed_ns() const;
  uint64_t worth_leading_ns() const;
  void lead_calls();
  void rebind_calls(Installation& installation);
  void clear_tracee();
  void clean_child(pid_t child);
  void withdraw_traps();
  // process_code.cpp
  CodeArea* area_at(uint64_t address);  // null: in none of this session's
  void show_code();

  std::unique_ptr<TracedProcess> own_process_;  // null: process_ is the caller's
  TracedProcess& process_;
  ModuleCodes& codes_;
  ProcessInput input_;
  const Layout* layout_ = nullptr;
  abi::Header header_ = {};
  // Held: the stopped threads, from map() to arm(), in which the first set's memory may be made;
  // never those of a process that runs meanwhile.
  struct Held {
    std::optional<Stopped> stopped;
    UnstartedChild unstarted;  // dies before `stopped`
    uint64_t pause_ns = 0;
  } held_;
  std::deque<ProbeSet> sets_;  // the first: of the session's begin
  // Sets of objects that djtap could not probe: a thread may be in their code yet, and own_code
  // lists it.
  std::deque<ProbeSet> spent_;
  struct Objects {
    std::vector<MappedModule> known;
    ModuleWatch watch;
    KnownMaps maps;              // empty before the first of them
    uint32_t answered = 0;       // the event that answer_objects() answered last
    std::string gs_base_setter;  // an object that was opened and may set the gs base
  } objects_;
  struct Threads {
    AgentPlaces places;
    std::optional<RseqArea> awaited_rseq;  // a launched process has not set its control block yet
    bool has_rows = false;                 // thread_rows.h
  } threads_;
  struct Watch {
    bool is_over = false;    // restore() has put all back
    uint64_t polled_ns = 0;  // when poll() looked last
    uint64_t interval_ns = 0;
    // Further processes: when poll() asks first, as most end before that.
    std::optional<uint64_t> computed_before_ns;
    uint64_t told_denied = 0;  // system calls (denied.h)
    size_t unraised = 0;
    DebugList debug_list;
    size_t shown = 0;  // OwnAreas that it shows
    uint64_t show_next_ns = 0;
    std::optional<Sampler> sampler;
    std::map<size_t, Sampler::Point> sample_points;  // by index in Plan::host_probes
  } watch_;
};

// Fails (Unsupported) where a thread catches system calls: those of handlers would never return.
Status check_uncaught(const Stopped& stopped);

// Says what handlers that make none of these system calls (runtime/shared/denied.h) cannot do: ";
// reads of memory are errors"; empty: they can do all.
const char* what_fails(uint64_t denied);

// Returns where the arena of this session can lie: free in djtap and in `process` (null: djtap
// alone). Fails when there is no such place.
Result<uint64_t> find_arena_base(const TracedProcess* process, uint64_t bytes);

}  // namespace dj
