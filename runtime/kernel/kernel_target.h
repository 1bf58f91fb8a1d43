// SPDX-License-Identifier: Apache-2.0
// KernelTarget is the running kernel as a Target. Its text is written by the kernel module, which
// also restores it when djtap dies; the data arena is djtap's own. Detours count in words of the
// module, which poll() carries into the arena. Handlers that do more than count are refused before.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernel/kernel_link.h"
#include "runtime/target/target.h"

namespace dj {

class KernelTarget : public Target {
 public:
  // `link`: just opened, for this target alone. `objects`: the kernel's files with their live text,
  // ascending. `facts`: of the process that runs beside, for target().
  KernelTarget(std::unique_ptr<KernelLink> link, std::vector<MappedModule> objects,
               SessionFacts facts = {});

  // What any plan of the kernel may assume: no rseq areas, no system calls, no kept calls, any
  // place an int3.
  static TargetFacts kernel_facts();

  int pid() const override { return facts_.target_pid; }
  const std::vector<MappedModule>& objects() const override { return objects_; }
  TargetFacts facts() const override { return kernel_facts(); }
  SessionFacts arena_facts() const override { return facts_; }
  AgentPlaces agent_places() const override { return {}; }
  bool runs_handlers() const override { return false; }

  // Fails where a handler does more than count, where counters are more than the module has, and
  // at the second call: a session has one code block.
  Result<CodeAreas> map(DetourPlan& plan, const Layout& layout) override;
  void place(Detours detours, const abi::Header& header) override;
  Status arm() override;
  void abandon() override;
  Status restore() override;
  bool is_in_text() override;
  ForksLeft restore_forks(const MemoryUsers&) override { return {}; }
  void keep() override {}

  // Unsupported: the module has no call for single places yet.
  Status switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) override;
  // Carries the counters over. A counter in the arena is as old as the last call.
  void poll() override;
  std::string why_over() const override { return ""; }
  void sample(size_t) override {}
  void report_misread_tables() override {}

  std::optional<uint32_t> objects_event() const override { return std::nullopt; }
  void answer_objects(uint32_t) override {}
  void let_wait(bool) override {}
  Result<DlopenedObjects> find_objects() override;
  void know(const DlopenedObjects& objects) override { objects_ = objects.modules; }

  std::vector<InstalledSite> sites() const override;
  std::vector<InstalledSite> latest_sites() const override { return sites(); }
  std::vector<InstalledSite> skipped_sites() const override;
  bool can_be_hit() const override { return skipped_sites().size() < sites().size(); }
  bool watches_objects() const override { return false; }
  ArmReport report() const override;
  std::string dump_detours() const override { return detours_ ? dump(*detours_) : ""; }
  void warn_of_unprobed() override {}
  size_t take_unraised() override { return 0; }

 private:
  Status lead_counters(DetourPlan& plan, const Layout& layout);
  Status send_code();
  void carry_counts();

  std::unique_ptr<KernelLink> link_;
  std::vector<MappedModule> objects_;
  SessionFacts facts_;
  std::shared_ptr<void> arena_;
  abi::Header header_ = {};
  std::vector<uint64_t> counts_;       // by counter, as they were carried last
  uint64_t code_at_ = 0;               // address of the code block; 0: there is none
  std::vector<uint8_t> code_, stubs_;  // djtap's view of it
  std::optional<Detours> detours_;
  SiteList armed_;  // in the order of the module's answers
  InstallTimes times_;
};

}  // namespace dj
