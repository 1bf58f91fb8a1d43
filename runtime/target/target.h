// SPDX-License-Identifier: Apache-2.0
// Target is what a session probes. ProcessTarget is a process, FakeTarget some bytes of a test. The
// session knows nothing of its targets but what stands here.
//
// A set of detours comes into a target by map(), build_detours(), place() and arm(), in this order:
// once when the session begins, and once for each set of dlopened objects. The session may call a
// function that has no other note while the target runs.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "compiler/stages/layout.h"
#include "runtime/detours/code_areas.h"
#include "runtime/detours/detours.h"
#include "runtime/memory/arena_format.h"
#include "runtime/patch/installed_site.h"
#include "runtime/patch/target_facts.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/session_processes.h"
#include "runtime/shared/abi.h"
#include "runtime/target/arm_report.h"

namespace dj {

// DlopenedObjects: objects that the target has opened since find_objects() looked last.
struct DlopenedObjects {
  std::vector<MappedModule> modules;  // all of the target: those that are known, then the new ones
  size_t first_new = 0;               // == modules.size(): none
};

// ForksLeft: processes that the target has forked and that live longer than the session.
struct ForksLeft {
  size_t count = 0;                   // whose probes were taken out
  size_t living = 0;                  // of them
  std::string names;                  // of the living: "sleep (123), sh (124)"
  std::vector<std::string> failures;  // one text for each process that keeps probes
};

class Target {
 public:
  virtual ~Target() = default;

  // Its number, as djtap sees it; of the kernel, that of the process that djtap has started beside
  // it, or 0.
  virtual int pid() const = 0;
  // What can be probed, ascending by address. know() changes it.
  virtual const std::vector<MappedModule>& objects() const = 0;
  // What patches of objects that the target opens from now on may assume.
  virtual TargetFacts facts() const = 0;
  // What the arena's header says of the target (SessionFacts::target_pid and what follows it).
  virtual SessionFacts arena_facts() const = 0;
  // The numbers that the agent's code needs of the target. Call it after the first map().
  virtual AgentPlaces agent_places() const = 0;
  // Whether handlers run in the target, so that their code goes into its code areas. False: detours
  // count, and that is all.
  virtual bool runs_handlers() const { return true; }

  // Maps code areas, stubs and a journal for these detours, and at the first call the session's
  // arena, at layout.base in djtap and in the target. Changes the plan where the target cannot do
  // what it says. A target that was launched stands until arm(); one that runs stands only for the
  // mapping. layout: lives as long as the target.
  virtual Result<CodeAreas> map(DetourPlan& plan, const Layout& layout) = 0;
  // Takes the detours that build_detours() has built in the areas of map(). Sites that the target
  // cannot carry become Skipped. header: djtap's own copy of the formatted arena's.
  virtual void place(Detours detours, const abi::Header& header) = 0;
  // Address of djtap's view of the arena's constants as this target has them; 0: at the arena's
  // base. Call it after map().
  virtual uint64_t constants() const { return 0; }
  // Leads the target's text to the detours that were placed last, and lets the target run. Verifies
  // all old bytes first. sites() tells what became of each place. When it fails, it takes out what
  // it has written.
  virtual Status arm() = 0;
  // Gives back what was mapped last, as far as no text leads there. Call it instead of arm(), or
  // when arm() has failed.
  virtual void abandon() = 0;
  // Puts all bytes back and verifies them; unmaps what no thread needs any more. Idempotent. When
  // it fails, is_in_text() tells whether places are left.
  virtual Status restore() = 0;
  virtual bool is_in_text() = 0;
  // Does what restore() does for all processes that the target has forked. Call it after restore(),
  // or when the target has ended. users: all that have memory of sessions, as they are since then.
  virtual ForksLeft restore_forks(const MemoryUsers& users) = 0;
  // Of a target that has ended: whether a process that it has forked has its memory. memories:
  // inodes of all files of sessions that processes have mapped.
  virtual bool has_forks(const std::set<uint64_t>&) const { return false; }
  // Leaves what later sessions can use. Call it after arm().
  virtual void keep() = 0;

  // Switches these handlers on or off. When it returns, each thread that comes to a probe finds it
  // so. The target stands only where djtap has to write text again.
  virtual Status switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) = 0;
  // Does what is due while the target runs. Call it every loop iteration, also when the target has
  // ended. Reports on stderr what the user must know.
  virtual void poll() = 0;
  // Whether there is nothing left to restore: the process has ended, or has executed another
  // program.
  virtual bool has_ended() const { return false; }
  // Why the session must end now because of the target; empty: it may go on.
  virtual std::string why_over() const = 0;
  // Takes the samples of one tick of a timer.profile probe, given by its index in
  // Plan::host_probes.
  virtual void sample(size_t host_probe) = 0;
  // Reports, once for each place, jump tables that djtap has read wrong. poll() calls it; call it
  // at the end as well.
  virtual void report_misread_tables() = 0;

  // The number of an event: objects came or went, and the target waits for answer_objects(). Empty:
  // there is no event.
  virtual std::optional<uint32_t> objects_event() const = 0;
  virtual void answer_objects(uint32_t event) = 0;
  // Sets whether the target waits for answers from now on: it must not while djtap is stopped.
  // objects_event() later tells what happened meanwhile.
  virtual void let_wait(bool waits) = 0;
  // Looks which objects are mapped now. Sites in objects that were unmapped become Gone.
  virtual Result<DlopenedObjects> find_objects() = 0;
  // Takes these objects as known from now on, probed or not.
  virtual void know(const DlopenedObjects& objects) = 0;

  // sites(): all places, in the order in which their sets came. latest_sites(): those of the last
  // set. skipped_sites(): those that are Skipped, at least of the first set.
  virtual std::vector<InstalledSite> sites() const = 0;
  virtual std::vector<InstalledSite> latest_sites() const = 0;
  virtual std::vector<InstalledSite> skipped_sites() const = 0;
  // Whether at least one place of the first set is not Skipped.
  virtual bool can_be_hit() const = 0;
  // Whether djtap must look at dlopened objects even where the script probes nothing in them.
  virtual bool watches_objects() const = 0;
  // What arm() came to for the first set.
  virtual ArmReport report() const = 0;
  // Prints the first set (--dump=detours). Call it after place().
  virtual std::string dump_detours() const = 0;
  // Warns of parts of the target that no probe reaches. Call it after arm().
  virtual void warn_of_unprobed() = 0;
  // Returns how many semaphores of marks were not raised, for want of room, since the last call.
  virtual size_t take_unraised() = 0;
};

}  // namespace dj
