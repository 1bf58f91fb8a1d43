// SPDX-License-Identifier: Apache-2.0
// A call that leads to a detour is known by its bytes: nothing is kept in the target for each of
// them, only once for each function or stub. So what leads there by chance is refused before.
#include "runtime/install/call_rebinding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <unordered_set>
#include <utility>

#include "arch/x86_64/linkage.h"
#include "arch/x86_64/module.h"
#include "compiler/base/printable.h"
#include "runtime/install/install.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/text_patch.h"

namespace dj {
namespace {

using arch::kNearBranchBytes;
using Bytes = std::vector<uint8_t>;

// The displacement of a call at `address` that leads to `target`; empty: it cannot be so far.
arch::JumpBytes displacement(uint64_t address, uint64_t target) {
  const auto distance = static_cast<int64_t>(target - (address + kNearBranchBytes));
  const auto value = static_cast<int32_t>(distance);
  if (value != distance) return {};
  return arch::JumpBytes(std::span(reinterpret_cast<const uint8_t*>(&value), sizeof value));
}

// Where the calls of one detour lead in the file, and how often.
struct Origin {
  uint64_t target = 0;
  size_t calls = 0;
};

// CallSearch: the calls of one module; runtime addresses but where it says ELF.
class CallSearch {
 public:
  CallSearch(const MappedModule& module, pid_t pid, const DetourOf& detour_of,
             const std::atomic<bool>& stop)
      : module_(module), memory_(pid), detour_of_(detour_of), stop_(stop) {}
  std::vector<ReboundCall> find(const ReadText& read_text);

 private:
  using Words = std::map<uint64_t, uint64_t>;  // ELF address of a word of the GOT, to detour
  void find_entries();
  Words leading_words() const;
  void find_stubs(const arch::ModuleText& text, const Words& leading);
  std::vector<arch::Reference> branches(const arch::ModuleText& text) const;  // ELF
  void choose_origins(const std::vector<arch::Reference>& branches);
  void add_calls(const arch::Module& module, const std::vector<arch::Reference>& branches);
  bool is_in_one_text(uint64_t address, uint64_t target) const;
  std::set<uint64_t> led_by_others(const Bytes& bytes, uint64_t begin, const DetourOf& calls) const;
  void drop_ambiguous();

  const MappedModule& module_;
  const RunningMemory memory_;
  const DetourOf& detour_of_;
  const std::atomic<bool>& stop_;
  std::map<uint64_t, uint64_t> targets_;         // entries and stubs, and their detours
  std::set<uint64_t> stubs_;                     // of targets_
  std::unordered_map<uint64_t, Origin> origin_;  // by detour
  std::vector<ReboundCall> found_;
};

void CallSearch::find_entries() {
  for (const auto& [entry, detour] : detour_of_) {
    if (is_in_one_text(entry, entry)) targets_[entry] = detour;
  }
}

// The words lead to detours themselves by now, mostly (got_slots.h).
CallSearch::Words CallSearch::leading_words() const {
  std::unordered_set<uint64_t> detours;
  for (const auto& [entry, detour] : detour_of_) detours.insert(detour);
  Words leading;
  for (const GotSlot& word : read_got_slots(module_, memory_)) {
    const auto by_entry = detour_of_.find(word.value);
    if (by_entry == detour_of_.end() && !detours.contains(word.value)) continue;
    leading[word.address] = by_entry != detour_of_.end() ? by_entry->second : word.value;
  }
  return leading;
}

void CallSearch::find_stubs(const arch::ModuleText& text, const Words& leading) {
  std::vector<uint64_t> addresses;
  for (const auto& [address, detour] : leading) addresses.push_back(address);
  for (const arch::LinkageStub& stub : arch::linkage_stubs(text.text, addresses)) {
    const uint64_t address = stub.address + module_.bias;
    targets_[address] = leading.at(stub.word);
    stubs_.insert(address);
  }
}

std::vector<arch::Reference> CallSearch::branches(const arch::ModuleText& text) const {
  std::vector<uint64_t> targets;
  for (const auto& [target, detour] : targets_) targets.push_back(target - module_.bias);
  std::vector<arch::Reference> found;
  for (const arch::TextRange& range : text.text) {
    if (stop_) return {};
    const auto more = arch::near_branches(range.bytes, range.address, targets);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

void CallSearch::choose_origins(const std::vector<arch::Reference>& branches) {
  std::unordered_map<uint64_t, size_t> calls;
  for (const arch::Reference& branch : branches) calls[branch.target + module_.bias]++;
  for (const auto& [target, count] : calls) {
    Origin& origin = origin_[targets_.at(target)];
    if (count > origin.calls || (count == origin.calls && target < origin.target))
      origin = {target, count};
  }
}

// journaled_calls() will look for the call where its function or stub is.
bool CallSearch::is_in_one_text(uint64_t address, uint64_t target) const {
  return std::any_of(module_.text.begin(), module_.text.end(), [&](const AddressRange& text) {
    return text.contains(address) && text.contains(target);
  });
}

void CallSearch::add_calls(const arch::Module& module,
                           const std::vector<arch::Reference>& branches) {
  for (const arch::Reference& branch : real_branches(module, branches)) {
    const uint64_t address = branch.at + module_.bias, target = branch.target + module_.bias;
    const uint64_t detour = targets_.at(target);
    if (origin_.at(detour).target != target || !is_in_one_text(address, target) ||
        displacement(address, detour).empty())
      continue;
    found_.push_back({address, target, detour, 0, stubs_.contains(target)});
  }
}

std::vector<uint64_t> sorted(const std::set<uint64_t>& set) { return {set.begin(), set.end()}; }

// Detours to which something in these bytes of text leads that is neither the jump of an entry nor
// one of `calls` (by address, to the detour).
std::set<uint64_t> CallSearch::led_by_others(const Bytes& bytes, uint64_t begin,
                                             const DetourOf& calls) const {
  std::set<uint64_t> others, detours;
  for (const ReboundCall& call : found_) detours.insert(call.detour);
  for (const auto& branch : arch::near_branches(bytes, begin, sorted(detours))) {
    const auto entry = detour_of_.find(branch.at), call = calls.find(branch.at);
    const bool ours = (entry != detour_of_.end() && entry->second == branch.target) ||
                      (call != calls.end() && call->second == branch.target);
    if (!ours) others.insert(branch.target);
  }
  return others;
}

// Looks at the text as it is, and as it is with the calls written.
void CallSearch::drop_ambiguous() {
  std::set<uint64_t> ambiguous;
  for (const AddressRange& text : module_.text) {
    Bytes bytes(text.end - text.begin);
    if (stop_ || !memory_.read(text.begin, bytes.data(), bytes.size())) return found_.clear();
    ambiguous.merge(led_by_others(bytes, text.begin, {}));
    DetourOf written;
    for (const ReboundCall& call : found_) {
      if (!text.contains(call.address)) continue;
      const arch::JumpBytes straight = displacement(call.address, call.detour);
      std::copy(straight.begin(), straight.end(), &bytes[call.address + 1 - text.begin]);
      written[call.address] = call.detour;
    }
    ambiguous.merge(led_by_others(bytes, text.begin, written));
  }
  std::erase_if(found_, [&](const ReboundCall& c) { return ambiguous.contains(c.detour); });
}

std::vector<ReboundCall> CallSearch::find(const ReadText& read_text) {
  find_entries();
  const Words leading = leading_words();
  // Before all that is large is read.
  if (stop_ || (targets_.empty() && leading.empty())) return {};
  Result<arch::ModuleText> text = read_text(module_.open_path);
  if (!text.ok()) return {};
  const arch::Module module(text.take());
  find_stubs(module.text(), leading);
  const std::vector<arch::Reference> all = branches(module.text());
  choose_origins(all);
  constexpr size_t kPart = 1000;  // what is decoded between two looks at stop_
  for (size_t at = 0; at < all.size(); at += kPart) {
    const size_t end = std::min(at + kPart, all.size());
    if (stop_) return {};
    add_calls(module, {all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(end)});
  }
  drop_ambiguous();
  return stop_ ? std::vector<ReboundCall>() : std::move(found_);
}

constexpr size_t kMostReboundCalls = 1 << 20;  // of one installation

// Where the jump leads that stands there.
uint64_t jump_target(const JournalRecord& record) {
  int32_t distance;
  memcpy(&distance, &record.patched[1], sizeof distance);
  return record.address + kNearBranchBytes + static_cast<uint64_t>(int64_t{distance});
}

// Executable mappings of files; those of one file that touch are one.
std::vector<AddressRange> file_texts(const std::vector<Mapping>& maps) {
  std::vector<AddressRange> texts;
  uint64_t inode = 0;  // of the last
  for (const Mapping& m : maps) {
    if (!m.exec || m.inode == 0 || m.shared) continue;
    if (!texts.empty() && texts.back().end == m.begin && inode == m.inode) {
      texts.back().end = m.end;
    } else {
      texts.push_back({m.begin, m.end});
    }
    inode = m.inode;
  }
  return texts;
}

// LedText: a text of a process, in which calls of `led` lead to detours. records: places that have
// records, ascending.
class LedText {
 public:
  static constexpr uint64_t kPart = 1 << 20;  // what is looked at together
  LedText(const RunningMemory& memory, std::vector<JournalCall> led,
          const std::vector<JournalRecord>& records)
      : memory_(memory), led_(std::move(led)), records_(records) {
    std::ranges::sort(led_, {}, &JournalCall::detour);
    for (const JournalCall& call : led_) detours_.push_back(call.detour);
  }
  // Adds what puts the calls in this part back. False: it cannot be read.
  bool look(const AddressRange& part, std::vector<TextPatch>& patches) {
    Bytes bytes(part.end - part.begin);
    if (!memory_.read(part.begin, bytes.data(), bytes.size())) return false;
    for (const auto& branch : arch::near_branches(bytes, part.begin, detours_)) {
      const auto call = std::ranges::lower_bound(led_, branch.target, {}, &JournalCall::detour);
      const arch::JumpBytes back = displacement(branch.at, call->target);
      if (!back.empty() && !has_record(branch.at)) patches.push_back({branch.at + 1, back});
    }
    return true;
  }

 private:
  bool has_record(uint64_t address) const {
    const auto at = [](const JournalRecord& record) -> uint64_t { return record.address; };
    return std::ranges::binary_search(records_, address, {}, at);
  }
  const RunningMemory& memory_;
  std::vector<JournalCall> led_;   // by detour
  std::vector<uint64_t> detours_;  // of led_, ascending
  const std::vector<JournalRecord>& records_;
};

// Places in the text that belong to sites.
class Places {
 public:
  explicit Places(const SiteList& sites) {
    for (const PatchSite* site : sites) {
      const uint64_t bytes = std::max<uint64_t>(site->original.size(), 1);
      ranges_.push_back({site->address, site->address + bytes});
    }
    std::sort(ranges_.begin(), ranges_.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
    // They overlap where a jump's displacement ends in the bytes of others.
    for (size_t i = 1; i < ranges_.size(); i++) {
      ranges_[i].end = std::max(ranges_[i].end, ranges_[i - 1].end);
    }
  }
  // Is one of the bytes at `begin` in one of them?
  bool touch(uint64_t begin, uint64_t bytes) const {
    const auto after = std::lower_bound(
        ranges_.begin(), ranges_.end(), begin + bytes,
        [](const AddressRange& range, uint64_t address) { return range.begin < address; });
    return after != ranges_.begin() && std::prev(after)->end > begin;
  }

 private:
  std::vector<AddressRange> ranges_;
};

// Is there a call or jump at `address` that leads to `target` now? *readable: as of TextReader.
bool leads_to(TextReader& text, uint64_t address, uint64_t target, bool* readable) {
  uint8_t opcode[1] = {};
  *readable = text.read(address, opcode);
  const bool is_branch = *readable && (opcode[0] & 0xfe) == 0xe8;
  return is_branch && text.equals(address + 1, displacement(address, target), readable);
}

// Detours of `calls` to which the jump of a site leads in the text.
std::unordered_set<uint64_t> standing_detours(TextReader& text, const SiteList& sites,
                                              const std::vector<ReboundCall>& calls) {
  std::unordered_set<uint64_t> wanted, standing;
  for (const ReboundCall& call : calls) wanted.insert(call.detour);
  for (const PatchSite* site : sites) {
    if (!is_plain_jump(*site) || !site->armed() || !wanted.contains(site->detour)) continue;
    bool readable = true;
    if (text.equals(site->address, site->patched(), &readable)) standing.insert(site->detour);
  }
  return standing;
}

}  // namespace

std::vector<ReboundCall> find_rebindable_calls(const MappedModule& module, pid_t pid,
                                               const DetourOf& detour_of, const ReadText& read_text,
                                               const std::atomic<bool>& stop) {
  if (module.is_vdso || module.partial || module.shared || !module.writable.empty()) return {};
  return CallSearch(module, pid, detour_of, stop).find(read_text);
}

void CallRebinding::look(const std::vector<MappedModule>& modules, pid_t pid, DetourOf detour_of,
                         ReadText read_text) {
  has_looked_ = detour_of.empty();
  if (has_looked_) return;
  search_ = std::make_unique<Search>();
  search_->thread =
      spare_thread([&search = *search_, modules, pid, detour_of = std::move(detour_of),
                    read_text = std::move(read_text)] {
        std::vector<uint32_t> order(modules.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_partition(order.begin(), order.end(),
                              [&](uint32_t m) { return modules[m].is_executable_file; });
        for (const uint32_t m : order) {
          if (search.stop) break;
          std::vector<ReboundCall> found =
              find_rebindable_calls(modules[m], pid, detour_of, read_text, search.stop);
          const std::lock_guard lock(search.mutex);
          for (ReboundCall& call : found) {
            call.module = m;
            search.found.push_back(call);
          }
        }
      });
  has_looked_ = search_->thread.has_value();
}

bool CallRebinding::is_looking() const {
  return search_ && search_->thread && !search_->thread->has_ended();
}

bool CallRebinding::is_found() const {
  if (!search_) return false;
  const std::lock_guard lock(search_->mutex);
  return !search_->found.empty();
}

bool CallRebinding::choose(const SiteList& sites) {
  constexpr size_t kAtOnce = 20'000;
  if (!search_ || count_ > kMostReboundCalls - kAtOnce) return false;
  {
    const std::lock_guard lock(search_->mutex);
    std::vector<ReboundCall>& found = search_->found;
    const auto from = found.end() - static_cast<long>(std::min(found.size(), kAtOnce));
    chosen_.assign(from, found.end());
    found.erase(from, found.end());
  }
  const Places places(sites);
  std::erase_if(chosen_, [&](const ReboundCall& call) {
    return places.touch(call.address, kNearBranchBytes) ||
           (call.by_stub && places.touch(call.target, arch::kLinkageStubBytes));
  });
  return !chosen_.empty();
}

Status CallRebinding::write(const Stopped& stopped, Journal& journal, const SiteList& sites) {
  TextReader text(stopped);
  const std::unordered_set<uint64_t> standing = standing_detours(text, sites, chosen_);
  std::vector<TextPatch> patches;
  std::map<uint64_t, uint64_t> stubs;
  std::set<uint64_t> entries;
  for (const ReboundCall& call : std::exchange(chosen_, {})) {
    bool readable = true;
    if (!standing.contains(call.detour) || !leads_to(text, call.address, call.target, &readable))
      continue;
    patches.push_back({call.address + 1, displacement(call.address, call.detour)});
    if (call.by_stub) {
      stubs[call.target] = call.detour;
    } else {
      entries.insert(call.target);
    }
    written_.push_back(call);
  }
  count_ = written_.size();
  for (const auto& [stub, detour] : stubs) {
    if (entered_.insert(stub).second) DJ_TRY_DO(journal.enter_call({stub, detour}));
  }
  for (const uint64_t entry : entries) journal.enter_led(entry);
  Status written = write_patches(stopped, std::move(patches));
  if (is_engine_logged()) {
    log_line("engine: {} calls lead straight to detours", count_);
  }
  return written;
}

Status CallRebinding::restore(const Stopped& stopped, const std::vector<MappedModule>& modules,
                              std::string& damage) {
  search_.reset();
  chosen_.clear();
  if (written_.empty()) return ok_status();
  DJ_TRY(std::vector<MappedModule> now, mapped_modules(stopped.pid()));
  std::vector<bool> mapped;
  for (const MappedModule& module : modules) mapped.push_back(is_mapped(module, now));
  TextReader text(stopped);
  std::vector<TextPatch> patches;
  for (const ReboundCall& call : std::exchange(written_, {})) {
    bool readable = true;
    if (!mapped[call.module] || leads_to(text, call.address, call.target, &readable)) continue;
    if (leads_to(text, call.address, call.detour, &readable)) {
      patches.push_back({call.address + 1, displacement(call.address, call.target)});
    } else if (readable) {
      damage = fmt::format("the call at {:#x} was changed by somebody else and is left as it is",
                           call.address);
    }
  }
  return write_patches(stopped, std::move(patches));
}

void Installation::look_for_rebindable_calls(pid_t pid, const ReadText& read_text) {
  if (detours_->plan.switched || patches().live || led_.calls.has_looked()) return;
  DetourOf detour_of;
  detour_of.reserve(patches().sites.size());
  for (const PatchSite& site : patches().sites) {
    if (!detours_->is_own(site) && is_plain_jump(site) && site.armed())
      detour_of[site.address] = site.detour;
  }
  led_.calls.look(modules(), pid, std::move(detour_of), read_text);
}

Status Installation::rebind_calls(Stopped& stopped) {
  const uint64_t begin = now_ns();
  Status written = led_.calls.write(stopped, *journal_, detours_->sites());
  times_.rebound_calls = led_.calls.count();
  times_.rebinding_ns = std::max(times_.rebinding_ns, now_ns() - begin);
  return written;
}

Result<std::vector<TextPatch>> journaled_calls(pid_t pid, const std::vector<JournalCall>& calls,
                                               const std::vector<JournalRecord>& records,
                                               const std::function<Status()>& go_on) {
  std::vector<TextPatch> patches;
  std::vector<JournalCall> led = calls;
  for (const JournalRecord& record : records) {
    if (record.led != 0) led.push_back({record.address, jump_target(record)});
  }
  if (led.empty()) return patches;
  std::ranges::sort(led, {}, &JournalCall::target);
  DJ_TRY(const std::vector<Mapping> maps, read_maps(pid));
  const RunningMemory memory(pid);
  for (const AddressRange& text : file_texts(maps)) {
    const auto first = std::ranges::lower_bound(led, text.begin, {}, &JournalCall::target);
    const auto last = std::ranges::lower_bound(led, text.end, {}, &JournalCall::target);
    LedText search(memory, {first, last}, records);
    for (uint64_t at = text.begin; at < text.end && first != last; at += LedText::kPart) {
      DJ_TRY_DO(go_on());
      if (!search.look({at, std::min(at + LedText::kPart + kNearBranchBytes - 1, text.end)},
                       patches))
        break;
      if (patches.size() > kMostReboundCalls)
        return Error{fmt::format("process {} has more calls to detours than djtap makes", pid),
                     Fail::Unsupported};
    }
  }
  return patches;
}

}  // namespace dj
