// Reads each module's words at once: a GOT is one piece.
#include "runtime/control/call_words.h"

#include <algorithm>
#include <cstring>

#include "runtime/control/imports.h"
#include "runtime/control/running_memory.h"

namespace dj {
namespace {

// Indices of the sites that a call may come to by their detours, by address.
std::vector<size_t> entries_of(const std::vector<PatchSite>& sites) {
  std::vector<size_t> entries;
  for (size_t i = 0; i < sites.size(); i++) {
    const PatchSite& site = sites[i];
    const bool plain = site.jump && !site.form && site.handlers_at == 0;
    if (plain && site.state == SiteState::Registered) entries.push_back(i);
  }
  const auto by_address = [&](size_t a, size_t b) { return sites[a].address < sites[b].address; };
  std::sort(entries.begin(), entries.end(), by_address);
  return entries;
}

PatchSite make_word(uint64_t address, size_t module, uint64_t holds) {
  PatchSite word;
  word.word = word.jump = true;
  word.address = address;
  word.module = module;
  word.name = "call-word";
  word.original.resize(sizeof holds);
  memcpy(word.original.data(), &holds, sizeof holds);
  return word;
}

// What stands at these ascending addresses; empty if it cannot be read.
std::vector<uint64_t> read_words(const RunningMemory& memory, const std::vector<uint64_t>& at,
                                 uint64_t bias) {
  constexpr uint64_t kMost = 16 << 20;  // farther apart they are in no GOT
  const uint64_t bytes = at.back() - at.front() + sizeof(uint64_t);
  std::vector<uint8_t> got(bytes <= kMost ? bytes : 0);
  if (got.empty() || !memory.read(at.front() + bias, got.data(), bytes)) return {};
  std::vector<uint64_t> words(at.size());
  for (size_t i = 0; i < at.size(); i++)
    memcpy(&words[i], &got[at[i] - at.front()], sizeof words[i]);
  return words;
}

}  // namespace

CallWords::CallWords(const std::vector<MappedModule>& modules, pid_t pid,
                     const std::vector<PatchSite>& sites) {
  const std::vector<size_t> entries = entries_of(sites);
  if (entries.empty() || pid == 0) return;
  const RunningMemory memory(pid);
  for (size_t m = 0; m < modules.size(); m++) {
    const std::vector<uint64_t> at = read_call_words(modules[m].open_path);
    const std::vector<uint64_t> words =
        at.empty() ? std::vector<uint64_t>() : read_words(memory, at, modules[m].bias);
    for (size_t i = 0; i < words.size(); i++) {
      const auto found = std::lower_bound(
          entries.begin(), entries.end(), words[i],
          [&](size_t entry, uint64_t wanted) { return sites[entry].address < wanted; });
      if (found == entries.end() || sites[*found].address != words[i]) continue;
      words_.push_back(make_word(at[i] + modules[m].bias, m, words[i]));
      targets_.push_back(*found);
    }
  }
}

void CallWords::aim(const std::vector<PatchSite>& sites) {
  for (size_t i = 0; i < words_.size(); i++) words_[i].detour = sites[targets_[i]].detour;
  follow(sites);
}

void CallWords::follow(const std::vector<PatchSite>& sites) {
  for (size_t i = 0; i < words_.size(); i++) {
    const bool waits = words_[i].state == SiteState::Registered;
    if (waits && sites[targets_[i]].state != SiteState::Registered) {
      words_[i].skip("its function is not probed");
    }
  }
}

SiteList CallWords::all() {
  SiteList list;
  for (PatchSite& word : words_) list.push_back(&word);
  return list;
}

}  // namespace dj
