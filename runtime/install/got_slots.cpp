// SPDX-License-Identifier: Apache-2.0
// Reads each module's words at once: a GOT is one piece.
#include "runtime/install/got_slots.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/base/sort_runs.h"
#include "runtime/patch/imports.h"

namespace dj {
namespace {

using Entry = std::pair<uint64_t, size_t>;  // address and index of a site

// The sites that a call may come to by their detours, by address.
std::vector<Entry> entries_of(const std::vector<PatchSite>& sites) {
  std::vector<Entry> entries;
  entries.reserve(sites.size());
  for (size_t i = 0; i < sites.size(); i++) {
    const PatchSite& site = sites[i];
    if (is_plain_jump(site) && site.state == SiteState::Registered)
      entries.emplace_back(site.address, i);
  }
  sort_runs(entries.begin(), entries.end());
  return entries;
}

PatchSite make_word(uint64_t address, size_t module, uint64_t holds) {
  PatchSite word;
  word.word = word.jump = true;
  word.address = address;
  word.module = static_cast<uint32_t>(module);
  word.name = "call-word";
  word.original.resize(sizeof holds);
  memcpy(word.original.data(), &holds, sizeof holds);
  return word;
}

}  // namespace

std::vector<GotSlot> read_got_slots(const MappedModule& module, const RunningMemory& memory) {
  constexpr uint64_t kMost = 16 << 20;  // farther apart they are in no GOT
  const std::vector<uint64_t> at = read_got_slots(module.open_path);
  if (at.empty()) return {};
  const uint64_t bytes = at.back() - at.front() + sizeof(uint64_t);
  std::vector<uint8_t> got(bytes <= kMost ? bytes : 0);
  if (got.empty() || !memory.read(at.front() + module.bias, got.data(), bytes)) return {};
  std::vector<GotSlot> words(at.size());
  for (size_t i = 0; i < at.size(); i++) {
    words[i].address = at[i];
    memcpy(&words[i].value, &got[at[i] - at.front()], sizeof words[i].value);
  }
  return words;
}

bool is_plain_jump(const PatchSite& site) {
  return site.jump && !site.form && site.handlers_at == 0;
}

GotSlots::GotSlots(const std::vector<MappedModule>& modules, pid_t pid,
                   const std::vector<PatchSite>& sites) {
  const std::vector<Entry> entries = entries_of(sites);
  if (entries.empty() || pid == 0) return;
  const RunningMemory memory(pid);
  for (size_t m = 0; m < modules.size(); m++) {
    const std::vector<GotSlot> words = read_got_slots(modules[m], memory);
    words_seen_ += words.size();
    for (const GotSlot& word : words) {
      const auto found = std::lower_bound(entries.begin(), entries.end(), Entry{word.value, 0});
      if (found == entries.end() || found->first != word.value) continue;
      words_.push_back(make_word(word.address + modules[m].bias, m, word.value));
      targets_.push_back(found->second);
    }
  }
}

void GotSlots::aim(const std::vector<PatchSite>& sites) {
  for (size_t i = 0; i < words_.size(); i++) words_[i].detour = sites[targets_[i]].detour;
  follow(sites);
}

void GotSlots::follow(const std::vector<PatchSite>& sites) {
  for (size_t i = 0; i < words_.size(); i++) {
    const bool waits = words_[i].state == SiteState::Registered;
    if (waits && sites[targets_[i]].state != SiteState::Registered) {
      words_[i].skip("its function is not probed");
    }
  }
}

SiteList GotSlots::all() {
  SiteList list;
  for (PatchSite& word : words_) list.push_back(&word);
  return list;
}

}  // namespace dj
