// SPDX-License-Identifier: Apache-2.0
// The engine's own steps over bytes of a test: only where memory comes from is made up.
#include "runtime/target/fake/fake_target.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/page.h"
#include "runtime/text/site_text.h"
#include "runtime/text/text_image.h"

namespace dj {

uint8_t* FakeMemory::at(uint64_t address, size_t bytes) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return nullptr;
  --range;
  const uint64_t offset = address - range->first;
  if (offset > range->second.size() || bytes > range->second.size() - offset) return nullptr;
  return &range->second[offset];
}

void FakeMemory::remove(const AddressRange& range) {
  std::erase_if(ranges_, [&](const auto& each) { return range.contains(each.first); });
}

Status FakeMemory::read(uint64_t address, std::span<uint8_t> bytes) const {
  const uint8_t* from = at(address, bytes.size());
  if (from == nullptr) return Error{"no such memory"};
  std::copy_n(from, bytes.size(), bytes.begin());
  return ok_status();
}

Status FakeMemory::write(uint64_t address, std::span<const uint8_t> bytes) const {
  uint8_t* to = at(address, bytes.size());
  if (to == nullptr) return Error{"no such memory"};
  std::ranges::copy(bytes, to);
  return ok_status();
}

size_t FakeMemory::read_ranges(std::span<const AddressRange> ranges, uint8_t* bytes) const {
  for (size_t i = 0; i < ranges.size(); i++) {
    const size_t count = ranges[i].end - ranges[i].begin;
    if (!read(ranges[i].begin, {bytes, count}).ok()) return i;
    bytes += count;
  }
  return ranges.size();
}

void FakeTarget::open(const std::string& path, const arch::ModuleText& text, uint64_t bias) {
  MappedModule module;
  module.path = module.open_path = path;
  module.bias = bias;
  module.begin = text.image_begin + bias;
  module.end = text.image_end + bias;
  module.is_executable_file = mapped_.empty();
  for (const arch::TextRange& range : text.text) {
    module.text.push_back({range.address + bias, range.address + bias + range.bytes.size()});
    memory_.add(range.address + bias, {range.bytes.begin(), range.bytes.end()});
  }
  mapped_.push_back(module);
  std::ranges::sort(mapped_, {}, &MappedModule::begin);
  events_++;
}

void FakeTarget::close(const std::string& path) {
  for (const MappedModule& module : mapped_) {
    if (module.path == path) memory_.remove({module.begin, module.end});
  }
  std::erase_if(mapped_, [&](const MappedModule& module) { return module.path == path; });
  events_++;
}

// One code area behind all objects, and stubs where the engine wants them in between.
Result<CodeAreas> FakeTarget::map(DetourPlan& plan, const Layout&) {
  constexpr uint64_t kGap = 1 << 20, kReach = uint64_t{1} << 30, kMostMappings = 1 << 15;
  CodeAreas areas;
  const std::vector<AddressRange> modules = plan.area_modules();
  if (modules.empty()) return areas;
  const AddressRange served = {modules.front().begin, modules.back().end};
  const uint64_t bytes = page_up(plan.area_bytes());
  const uint64_t base =
      code_at_ != 0 ? code_at_ : page_up(mapped_.back().end) + kGap * (sets_.size() + 1);
  const AddressRange area = {base, base + bytes};
  areas.add_area(served, base, give_bytes(bytes));
  std::vector<StubPages> stubs =
      plan.stub_chooser()({{area.end, area.end + kReach}}, kMostMappings, {{served, area}});
  areas.set_stubs(std::move(stubs), give_bytes(plan.stub_bytes));
  return areas;
}

void FakeTarget::place(Detours detours, const abi::Header&) {
  ProbeSet& set = sets_.emplace_back(ProbeSet{std::move(detours), {}});
  set.switches = Switches(set.detours);
}

Status FakeTarget::arm() {
  Detours& detours = sets_.back().detours;
  TextImage text(detours.sites(), detours.hooks());
  text.read(memory_);
  check_text(text, detours.hooks());
  if (check_text(text, detours.sites()))
    detours.skip_dependents("text differs from the file nearby");
  Status written = write_sites(memory_, text, detours.hooks(), patches_of(detours.hooks()));
  if (written.ok())
    written = write_sites(memory_, text, detours.sites(), patches_of(detours.sites()));
  return written;
}

void FakeTarget::abandon() { sets_.pop_back(); }

Status FakeTarget::restore() {
  std::string damage;
  for (auto set = sets_.rbegin(); set != sets_.rend(); ++set) {
    Detours& detours = set->detours;
    find_gone(mapped_, detours.places(), detours.plan.modules);
    DJ_TRY_DO(restore_sites(memory_, detours.sites(), damage));
    DJ_TRY_DO(restore_sites(memory_, detours.hooks(), damage));
  }
  return damage.empty() ? ok_status() : Status(Error{damage});
}

bool FakeTarget::is_in_text() {
  return std::ranges::any_of(sets_, [](ProbeSet& set) {
    return std::ranges::any_of(set.detours.places(),
                               [](const PatchSite* place) { return place->armed(); });
  });
}

Status FakeTarget::switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) {
  for (ProbeSet& set : sets_) {
    set.switches.turn(set.detours, handlers, on, by, now_ns_);
    if (!set.switches.work(set.detours, now_ns_).wake.empty()) DJ_TRY_DO(do_text_work(set));
  }
  return ok_status();
}

Status FakeTarget::do_text_work(ProbeSet& set) {
  const TextWork work = set.switches.work(set.detours, now_ns_);
  find_gone(mapped_, work.rest, set.detours.plan.modules);
  find_gone(mapped_, work.wake, set.detours.plan.modules);
  std::string damage;
  DJ_TRY_DO(restore_sites(memory_, work.rest, damage));
  TextImage text(work.wake);
  text.read(memory_);
  check_text(text, work.wake);
  DJ_TRY_DO(write_sites(memory_, text, work.wake, patches_of(work.wake)));
  set.switches.settle(set.detours);
  return damage.empty() ? ok_status() : Status(Error{damage});
}

void FakeTarget::poll() {
  for (ProbeSet& set : sets_) CHECK(do_text_work(set).ok());
}

std::optional<uint32_t> FakeTarget::objects_event() const {
  return events_ == answered_ ? std::nullopt : std::optional(events_);
}

Result<DlopenedObjects> FakeTarget::find_objects() {
  for (ProbeSet& set : sets_) find_gone(mapped_, set.detours.places(), set.detours.plan.modules);
  DlopenedObjects found;
  for (const MappedModule& module : known_) {
    if (is_mapped(module, mapped_)) found.modules.push_back(module);
  }
  found.first_new = found.modules.size();
  for (const MappedModule& module : mapped_) {
    if (!is_mapped(module, known_)) found.modules.push_back(module);
  }
  return found;
}

std::vector<InstalledSite> FakeTarget::sites() const {
  std::vector<InstalledSite> all;
  for (const ProbeSet& set : sets_) {
    const std::vector<InstalledSite> more = set.detours.list();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<InstalledSite> FakeTarget::skipped_sites() const {
  std::vector<InstalledSite> skipped = sites();
  std::erase_if(skipped,
                [](const InstalledSite& site) { return site.state != SiteState::Skipped; });
  return skipped;
}

ArmReport FakeTarget::report() const {
  ArmReport report;
  for (const InstalledSite& site : sites())
    report.armed += site.state == SiteState::Optimized || site.state == SiteState::Int3;
  report.sites = sites().size();
  return report;
}

}  // namespace dj
