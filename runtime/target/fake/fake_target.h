// SPDX-License-Identifier: Apache-2.0
// FakeTarget is a Target for tests. Its objects are real ELF files, whose text it copies into bytes
// of the test. Its clock stands until the test moves it. It shows what the engine does to text
// without a process. (Tests only.)
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/detours/switches.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/text_memory.h"
#include "runtime/target/target.h"

namespace dj {

// FakeMemory: the text of some files at runtime addresses.
class FakeMemory final : public TextMemory {
 public:
  void add(uint64_t address, std::vector<uint8_t> bytes) { ranges_[address] = std::move(bytes); }
  void remove(const AddressRange& range);
  Status read(uint64_t address, std::span<uint8_t> bytes) const override;
  Status write(uint64_t address, std::span<const uint8_t> bytes) const override;
  size_t read_ranges(std::span<const AddressRange> ranges, uint8_t* bytes) const override;
  // All bytes, to compare.
  const std::map<uint64_t, std::vector<uint8_t>>& all() const { return ranges_; }

 private:
  uint8_t* at(uint64_t address, size_t bytes) const;  // null: not all of it is there
  mutable std::map<uint64_t, std::vector<uint8_t>> ranges_;
};

class FakeTarget : public Target {
 public:
  // code_at: where code areas begin; 0: behind the objects, as in a process.
  explicit FakeTarget(const TargetFacts& facts = TargetFacts(), uint64_t code_at = 0)
      : facts_(facts), code_at_(code_at) {}

  // Opens or closes an object as a loader would: find_objects() then tells of it.
  void open(const std::string& path, const arch::ModuleText& text, uint64_t bias);
  void close(const std::string& path);
  FakeMemory& memory() { return memory_; }
  void pass(uint64_t ns) { now_ns_ += ns; }  // of time
  // The set of detours that came last.
  Detours& latest() { return sets_.back().detours; }

  int pid() const override { return 0; }
  const std::vector<MappedModule>& objects() const override { return known_; }
  TargetFacts facts() const override { return facts_; }
  SessionFacts arena_facts() const override { return SessionFacts(); }
  AgentPlaces agent_places() const override { return AgentPlaces(); }
  Result<CodeAreas> map(DetourPlan& plan, const Layout& layout) override;
  void place(Detours detours, const abi::Header& header) override;
  Status arm() override;
  void abandon() override;
  Status restore() override;
  bool is_in_text() override;
  ForksLeft restore_forks(const MemoryUsers&) override { return ForksLeft(); }
  void keep() override {}
  Status switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) override;
  void poll() override;
  std::string why_over() const override { return ""; }
  void sample(size_t) override {}
  void report_misread_tables() override {}
  std::optional<uint32_t> objects_event() const override;
  void answer_objects(uint32_t event) override { answered_ = event; }
  void let_wait(bool) override {}
  Result<DlopenedObjects> find_objects() override;
  void know(const DlopenedObjects& objects) override { known_ = objects.modules; }
  std::vector<InstalledSite> sites() const override;
  std::vector<InstalledSite> latest_sites() const override { return sets_.back().detours.list(); }
  std::vector<InstalledSite> skipped_sites() const override;
  bool can_be_hit() const override { return skipped_sites().size() < sites().size(); }
  bool watches_objects() const override { return false; }
  ArmReport report() const override;
  std::string dump_detours() const override { return dump(sets_.front().detours); }
  void warn_of_unprobed() override {}
  size_t take_unraised() override { return 0; }

 private:
  struct ProbeSet {
    Detours detours;
    Switches switches;
  };
  std::vector<uint8_t>& give_bytes(uint64_t count) { return areas_.emplace_back(count); }
  Status do_text_work(ProbeSet& set);

  TargetFacts facts_;
  uint64_t code_at_;
  FakeMemory memory_;
  std::vector<MappedModule> mapped_;  // now, ascending
  std::vector<MappedModule> known_;   // to the session
  std::deque<std::vector<uint8_t>> areas_;
  std::deque<ProbeSet> sets_;
  uint64_t now_ns_ = 1'000'000'000;
  uint32_t events_ = 0, answered_ = 0;  // of objects
};

}  // namespace dj
