// A call that leads to a detour is known by its bytes: nothing is kept in the target for each of
// them, only once for each stub. So what leads there by chance is refused before.
#include "runtime/install/stub_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "arch/x86_64/linkage.h"
#include "arch/x86_64/module.h"
#include "runtime/install/install.h"
#include "runtime/process/os_error.h"
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

// From a stub's address (ELF) to the detour (runtime): one stub for each detour.
std::map<uint64_t, uint64_t> stubs_of(const arch::ModuleText& text,
                                      const std::vector<CallWord>& words,
                                      const DetourOf& detour_of) {
  std::map<uint64_t, uint64_t> leading;  // word to detour
  std::vector<uint64_t> addresses;
  for (const CallWord& word : words) {
    const auto found = detour_of.find(word.value);
    if (found == detour_of.end()) continue;
    leading[word.address] = found->second;
    addresses.push_back(word.address);
  }
  std::map<uint64_t, uint64_t> stubs;
  std::set<uint64_t> known;
  for (const arch::LinkageStub& stub : arch::linkage_stubs(text.text, addresses)) {
    const uint64_t detour = leading.at(stub.word);
    if (known.insert(detour).second) stubs[stub.address] = detour;
  }
  return stubs;
}

std::vector<uint64_t> sorted(const std::set<uint64_t>& set) { return {set.begin(), set.end()}; }

// journaled_calls() will look for the call where its stub is.
bool is_in_one_text(const MappedModule& module, uint64_t address, uint64_t stub) {
  return std::any_of(module.text.begin(), module.text.end(), [&](const AddressRange& text) {
    return text.contains(address) && text.contains(stub);
  });
}

void find_in_module(const MappedModule& mapped, size_t index, const std::vector<CallWord>& words,
                    const DetourOf& detour_of, const ReadText& read_text,
                    std::vector<StubCall>& found) {
  Result<arch::ModuleText> text = read_text(mapped.open_path);
  if (!text.ok()) return;
  const arch::Module module(text.take());
  const std::map<uint64_t, uint64_t> stubs = stubs_of(module.text(), words, detour_of);
  std::set<uint64_t> stub_set, detour_set, by_chance;
  for (const auto& [stub, detour] : stubs) {
    stub_set.insert(stub);
    detour_set.insert(detour - mapped.bias);
  }
  std::vector<arch::Reference> branches;
  for (const arch::TextRange& range : module.text().text) {
    for (const auto& branch : arch::near_branches(range.bytes, range.address, sorted(stub_set)))
      branches.push_back(branch);
    for (const auto& branch : arch::near_branches(range.bytes, range.address, sorted(detour_set)))
      by_chance.insert(branch.target + mapped.bias);
  }
  for (const arch::Reference& branch : real_branches(module, branches)) {
    const uint64_t detour = stubs.at(branch.target);
    const uint64_t address = branch.at + mapped.bias;
    if (by_chance.contains(detour) || displacement(address, detour).empty()) continue;
    if (!is_in_one_text(mapped, address, branch.target + mapped.bias)) continue;
    found.push_back({address, branch.target + mapped.bias, detour, index});
  }
}

// Executable mappings of files; those of one file that touch are one.
std::vector<AddressRange> file_texts(const std::vector<Mapping>& maps) {
  std::vector<AddressRange> texts;
  uint64_t inode = 0;  // of the last
  for (const Mapping& m : maps) {
    if (!m.exec || m.inode == 0) continue;
    if (!texts.empty() && texts.back().end == m.begin && inode == m.inode) {
      texts.back().end = m.end;
    } else {
      texts.push_back({m.begin, m.end});
    }
    inode = m.inode;
  }
  return texts;
}

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
                                              const std::vector<StubCall>& calls) {
  std::unordered_set<uint64_t> wanted, standing;
  for (const StubCall& call : calls) wanted.insert(call.detour);
  for (const PatchSite* site : sites) {
    if (!is_plain_jump(*site) || !site->armed() || !wanted.contains(site->detour)) continue;
    bool readable = true;
    if (text.equals(site->address, site->patched(), &readable)) standing.insert(site->detour);
  }
  return standing;
}

}  // namespace

std::vector<StubCall> find_stub_calls(const std::vector<MappedModule>& modules, pid_t pid,
                                      const DetourOf& detour_of, const ReadText& read_text,
                                      const std::atomic<bool>& stop) {
  std::vector<StubCall> found;
  const RunningMemory memory(pid);
  for (size_t m = 0; m < modules.size() && !stop; m++) {
    const MappedModule& module = modules[m];
    if (module.is_vdso || module.partial || module.shared || !module.writable.empty()) continue;
    const std::vector<CallWord> words = read_call_words(module, memory);
    const bool any = std::any_of(words.begin(), words.end(),
                                 [&](const CallWord& w) { return detour_of.contains(w.value); });
    if (any) find_in_module(module, m, words, detour_of, read_text, found);
  }
  return stop ? std::vector<StubCall>() : found;
}

void StubCalls::look(const std::vector<MappedModule>& modules, pid_t pid, DetourOf detour_of,
                     ReadText read_text) {
  search_ = std::make_unique<Search>();
  Search& search = *search_;
  search.thread = spare_thread(
      [&search, modules, pid, detour_of = std::move(detour_of), read_text = std::move(read_text)] {
        search.found = find_stub_calls(modules, pid, detour_of, read_text, search.stop);
        search.done = true;
      });
  has_looked_ = search.thread.has_value();
}

bool StubCalls::is_found() const {
  return !chosen_.empty() || (search_ && search_->done && !search_->found.empty());
}

bool StubCalls::choose(const SiteList& sites) {
  if (search_ && search_->done) {
    chosen_ = std::move(search_->found);
    search_.reset();
  }
  const Places places(sites);
  std::erase_if(chosen_, [&](const StubCall& call) {
    return places.touch(call.address, kNearBranchBytes) ||
           places.touch(call.stub, arch::kLinkageStubBytes);
  });
  return !chosen_.empty();
}

Status StubCalls::write(const Stopped& stopped, Journal& journal, const SiteList& sites) {
  TextReader text(stopped);
  const std::unordered_set<uint64_t> standing = standing_detours(text, sites, chosen_);
  std::vector<TextPatch> patches;
  std::map<uint64_t, uint64_t> stubs;
  for (const StubCall& call : std::exchange(chosen_, {})) {
    bool readable = true;
    if (!standing.contains(call.detour) || !leads_to(text, call.address, call.stub, &readable))
      continue;
    patches.push_back({call.address + 1, displacement(call.address, call.detour)});
    stubs[call.stub] = call.detour;
    written_.push_back(call);
  }
  count_ = written_.size();
  for (const auto& [stub, detour] : stubs) DJ_TRY_DO(journal.enter_call({stub, detour}));
  Status written = write_patches(stopped, std::move(patches));
  if (is_engine_logged()) {
    fmt::print(stderr, "engine: {} calls of linkage stubs lead straight to detours\n", count_);
  }
  return written;
}

Status StubCalls::restore(const Stopped& stopped, const std::vector<MappedModule>& modules,
                          std::string& damage) {
  search_.reset();
  chosen_.clear();
  if (written_.empty()) return ok_status();
  DJ_TRY(std::vector<MappedModule> now, mapped_modules(stopped.pid()));
  std::vector<bool> mapped;
  for (const MappedModule& module : modules) mapped.push_back(is_mapped(module, now));
  TextReader text(stopped);
  std::vector<TextPatch> patches;
  for (const StubCall& call : std::exchange(written_, {})) {
    bool readable = true;
    if (!mapped[call.module] || leads_to(text, call.address, call.stub, &readable)) continue;
    if (leads_to(text, call.address, call.detour, &readable)) {
      patches.push_back({call.address + 1, displacement(call.address, call.stub)});
    } else if (readable) {
      damage = fmt::format("the call at {:#x} was changed by somebody else and is left as it is",
                           call.address);
    }
  }
  return write_patches(stopped, std::move(patches));
}

void Installation::look_for_stub_calls(pid_t pid, const ReadText& read_text) {
  if (switched_ || patches_.live || stub_calls_.has_looked()) return;
  DetourOf detour_of;
  detour_of.reserve(2 * patches_.sites.size());
  for (const PatchSite& site : patches_.sites) {
    if (is_plain_jump(site) && site.armed())
      detour_of[site.address] = detour_of[site.detour] = site.detour;
  }
  stub_calls_.look(modules_, pid, std::move(detour_of), read_text);
}

Status Installation::write_stub_calls(Stopped& stopped) {
  const uint64_t begin = now_ns();
  Status written = stub_calls_.write(stopped, *journal_, all_sites());
  times_.stub_calls = stub_calls_.count();
  times_.stub_calls_ns = now_ns() - begin;
  return written;
}

std::vector<TextPatch> journaled_calls(pid_t pid, const std::vector<JournalCall>& calls,
                                       const std::vector<JournalRecord>& records) {
  std::vector<TextPatch> patches;
  Result<std::vector<Mapping>> maps = read_maps(pid);
  if (calls.empty() || !maps.ok()) return patches;
  const RunningMemory memory(pid);
  std::unordered_set<uint64_t> places;
  for (const JournalRecord& record : records) places.insert(record.address);
  for (const AddressRange& text : file_texts(maps.value())) {
    std::map<uint64_t, uint64_t> stub_of;  // by detour
    std::set<uint64_t> detours;
    for (const JournalCall& call : calls) {
      if (!text.contains(call.stub)) continue;
      stub_of[call.detour] = call.stub;
      detours.insert(call.detour);
    }
    Bytes bytes(detours.empty() ? 0 : text.end - text.begin);
    if (bytes.empty() || !memory.read(text.begin, bytes.data(), bytes.size())) continue;
    for (const auto& branch : arch::near_branches(bytes, text.begin, sorted(detours))) {
      if (!places.contains(branch.at))
        patches.push_back({branch.at + 1, displacement(branch.at, stub_of.at(branch.target))});
    }
  }
  return patches;
}

}  // namespace dj
