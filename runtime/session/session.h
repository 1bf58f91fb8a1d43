// SPDX-License-Identifier: Apache-2.0
// Session holds one script, one arena and its targets, from the first look at them to the last byte
// put back. It owns the handlers that run in djtap itself.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "runtime/memory/told_words.h"
#include "runtime/process/presence.h"
#include "runtime/session/linked_codes.h"
#include "runtime/session/switch_rules.h"
#include "runtime/target/target.h"

namespace dj {

// Targets: the targets of a session.
using Targets = std::vector<std::unique_ptr<Target>>;

// SessionInput: the compiled script. All of it lives as long as the session.
struct SessionInput {
  const Program& program;
  const Plan& plan;
  const Image& image;
  const Layout& layout;
  std::span<const uint8_t> stack_tables;  // as they are at first; may be empty
  bool follows_execs = false;             // what processes execute is to be probed, too
};

// FurtherInput: compiled probes of objects that a target opened later, or of a further process. The
// session has the plan (Session::add_plan()).
struct FurtherInput {
  const Image& image;
  DetourPlan& detours;  // of the plan; the session takes it
};

class Session {
 public:
  // Maps the arena (in djtap alone where there is no target), formats it, links handlers and places
  // `detours` in the target. A launched target stands until arm(); a running one stands only while
  // djtap maps memory into it. When it fails, nothing is left in a running target.
  static Result<Session> create(Targets targets, const SessionInput& input, DetourPlan detours);
  Session(Session&&) noexcept = default;

  // The code of `image` that a further process may map; see LinkedCodes::shared().
  SharedCode shared_code(const Image& image, const AgentPlaces& places) {
    return codes_.shared(image, places);
  }

  // Runs one handler of Form::Host in djtap, by the session's number.
  void run_host(HandlerId handler);
  // `prepare` is called before each of these.
  void before_host(std::function<void()> prepare) { hosts_.before = std::move(prepare); }
  // One tick of a timer.profile probe, by its index in Plan::host_probes.
  void sample(size_t host_probe);
  // The samples of all targets so far; empty: no target takes samples.
  std::optional<Samples> samples() const;
  // The first target; null: there is none.
  Target* target() const { return targets_.empty() ? nullptr : targets_.front().get(); }
  const Targets& targets() const { return targets_; }
  // Further processes that have ended, or left; what they have forked may live.
  const Targets& ended() const { return ended_; }

  // The functions up to switch_handlers() act on all targets; target.h describes them. Of several
  // errors they return the first. A target that has ended is left out.
  Status arm();
  void abandon();
  bool is_in_text() const;
  Status restore();
  ForksLeft restore_forks();
  // is_leaving: whether djtap traces a process until it has executed another program. poll() leaves
  // it alone: a target that asks for stops would take the one that tells of the exec.
  void poll(const std::function<bool(int pid)>& is_leaving);
  // Of the only target; where there are several, end_one() takes out those that want it.
  std::string why_over() const;
  // Takes the probes out of a target that wants it, where there are others. Says so, and returns
  // whether it did.
  bool end_one();
  std::vector<InstalledSite> sites() const;
  void let_wait(bool waits);
  void keep();
  Status switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by);
  // Which handlers are off in the processes that join later.
  SwitchRules& switch_rules() { return switch_rules_; }

  // Adds the sites of a further plan, whose first_site and first_handler are set.
  Status add_plan(const Plan& plan);
  // Gives globals and literals that lay_out_more() has placed their contents, from these on
  // (add_globals()).
  Status add_globals(const Program& program, size_t first_global, size_t first_text);
  // Links the Host handlers of such a plan, so that run_host() finds them.
  Status add_hosts(const Plan& plan, const Image& image);
  // Arms the probes of objects that the target has opened. The target stands for a moment.
  Status add_dlopened(Target& target, const FurtherInput& input);
  // Adds a further process and arms its probes. stack_tables: of that process; may be empty. When
  // it fails, nothing of the session is left in the process.
  Status join(std::unique_ptr<Target> target, const FurtherInput& input,
              std::span<const uint8_t> stack_tables);
  // Takes a further process that has ended out of the targets. What it has forked may live on.
  void set_ended(const Target& target);
  // Lets go of ended processes whose memory no process has any more. memories: inodes of all files
  // of sessions that processes have mapped.
  void drop_ended(const std::set<uint64_t>& memories);
  size_t set_count() const { return used_.sets_added; }  // how often sites were added

  // The arena's header as djtap has written it: djtap's own copy, which no target can change.
  const abi::Header& header() const { return header_; }
  // The words of the arena that change.
  ToldWords words() const {
    return ToldWords(arena(), header_.words.address(abi::arena_of(&header_)));
  }
  ArenaView arena() const { return {header_.arena_base, header_.arena_bytes}; }
  // djtap's view of where a target's stack tables lie; empty: no handler walks stacks.
  std::span<uint8_t> stack_room(const Target& target) const;

 private:
  Session() = default;
  Status format(const SessionInput& input);
  using AreaList = uint64_t abi::Header::*;  // own_code or own_code_dlopened
  Status place(Target& target, const Image& image, DetourPlan detours, CodeAreas areas,
               AreaList list);
  uint64_t constants_of(const Target& target) const;
  void forget_calls(const std::set<HandlerAt>& handlers);

  Targets targets_;
  Targets ended_;                    // further processes; what they have forked may live
  std::shared_ptr<void> own_arena_;  // without a target
  const Layout* layout_ = nullptr;
  abi::Header header_ = {};
  uint64_t capture_handlers_ = 0;  // that the arena has room for
  struct Hosts {
    std::map<HandlerId, Linked> linked;  // by the number of its first handler
    std::function<void()> before;        // before_host()
  } hosts_;
  LinkedCodes codes_;
  struct Used {
    uint64_t sites = 0;  // SiteInfos
    size_t sets_added = 0;
    // Of each further plan the first site and the first handler.
    std::vector<std::pair<SiteId, HandlerId>> plans;
  } used_;
  SwitchRules switch_rules_;
  Samples ended_samples_;               // of ended_, and of those before them
  std::unique_ptr<Presence> presence_;  // goes before the arena does
};

// Returns the plan's timer.profile probes, with the addresses of their words in the arena.
std::vector<SampleCall> sample_calls(const Plan& plan, const Layout& layout);

}  // namespace dj
