// SPDX-License-Identifier: Apache-2.0
// Session holds one script, one arena and its targets, from the first look at them to the last byte
// put back. It owns the handlers that run in djtap itself.
#pragma once
#include <memory>
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
#include "runtime/target/target.h"

namespace dj {

// Targets: the targets of a session; at most one for now.
using Targets = std::vector<std::unique_ptr<Target>>;

// SessionInput: the compiled script. All of it lives as long as the session.
struct SessionInput {
  const Program& program;
  const Plan& plan;
  const Image& image;
  const Layout& layout;
  std::span<const uint8_t> stack_tables;  // as they are at first; may be empty
};

// DlopenedInput: compiled probes in objects that the target opened later.
struct DlopenedInput {
  const Plan& plan;  // first_site and first_handler are set
  const Image& image;
  DetourPlan& detours;  // of the plan; add_dlopened() takes it
};

class Session {
 public:
  // Maps the arena (in djtap alone where there is no target), formats it, links handlers and places
  // `detours` in the target. A launched target stands until arm(); a running one stands only while
  // djtap maps memory into it. When it fails, nothing is left in a running target.
  static Result<Session> create(Targets targets, const SessionInput& input, DetourPlan detours);
  Session(Session&&) noexcept = default;

  // Runs one handler of Form::Host in djtap.
  void run_host(HandlerId handler);
  // One tick of a timer.profile probe, by its index in Plan::host_probes.
  void sample(size_t host_probe);
  // The target; null: there is none.
  Target* target() const { return targets_.empty() ? nullptr : targets_.front().get(); }

  // The functions up to switch_handlers() act on all targets; target.h describes them. Of several
  // errors they return the first.
  Status arm();
  void abandon();
  bool is_in_text() const;
  Status restore();
  ForksLeft restore_forks();
  void poll();
  std::string why_over() const;
  std::vector<InstalledSite> sites() const;
  void let_wait(bool waits);
  void keep();
  Status switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by);

  // Arms the probes of objects that the target has opened. The target stands for a moment.
  Status add_dlopened(const DlopenedInput& input);
  size_t dlopened_count() const { return dlopened_.size(); }  // how often that was done

  // The arena's header as djtap has written it: djtap's own copy, which no target can change.
  const abi::Header& header() const { return header_; }
  // The words of the arena that change.
  ToldWords words() const {
    return ToldWords(arena(), header_.words.address(abi::arena_of(&header_)));
  }
  ArenaView arena() const { return {header_.arena_base, header_.arena_bytes}; }

 private:
  Session() = default;
  Status format(const SessionInput& input);
  Status place(Target& target, const Image& image, DetourPlan detours, CodeAreas areas);
  void forget_calls(const std::set<HandlerAt>& handlers);

  Targets targets_;
  std::shared_ptr<void> own_arena_;  // without a target
  const Layout* layout_ = nullptr;
  abi::Header header_ = {};
  uint64_t capture_handlers_ = 0;  // that the arena has room for
  Linked host_;
  // For each set of dlopened objects: its first site, and its first handler.
  std::vector<std::pair<SiteId, HandlerId>> dlopened_;
};

// Returns the plan's timer.profile probes, with the addresses of their words in the arena.
std::vector<SampleCall> sample_calls(const Plan& plan, const Layout& layout);

}  // namespace dj
