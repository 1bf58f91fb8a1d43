// SPDX-License-Identifier: Apache-2.0
// What depends on addresses is found by decoding: every rel32 and rip-relative operand that leads
// out of the detour. A detour with an absolute address in it (of a moved call) is not kept.
#include "runtime/detours/detour_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "arch/x86_64/decode.h"
#include "compiler/base/packed.h"
#include "runtime/patch/patch_cache.h"
#include "runtime/shared/detour_note.h"

namespace dj {

struct CachedDetours::Row {
  uint64_t address;  // ELF, of the place
  uint32_t guards, bytes_at, reaches_at, copies_at;
  uint8_t bytes, note, reaches, copies, displaced, handlers_at, jump, probe_copy_at;
};

namespace {

constexpr uint64_t kMostDetourBytes = 255;  // of a detour that is kept
struct RunRow {
  uint32_t first, count;
};

// Is all that is moved at home at any address?
bool can_move(const PatchSite& site) {
  for (uint32_t at = 0; at < site.displaced;) {
    arch::Insn insn;
    if (!arch::decode(std::span(site.original).subspan(at), site.address + at, insn)) return false;
    if (insn.calls()) return false;
    at += insn.length;
  }
  return true;
}

bool is_simple(const PatchSite& site) {
  const bool one_form = std::all_of(site.calls.begin(), site.calls.end(), [&](const PatchCall& c) {
    return c.form == site.calls.front().form && c.slot == 0;
  });
  return site.armed() && one_form && !site.hook && !site.leaving && site.detour != 0 &&
         site.note_bytes != 0 && site.calls.size() < 256 && can_move(site);
}

class DetourPacker {
 public:
  std::vector<CachedDetours::Row> rows;
  std::vector<uint8_t> bytes;
  std::vector<CachedReach> reaches;
  std::vector<CachedCopy> copies;

  // `entries`: of its calls' handlers.
  void add(const PatchSite& site, const MappedModule& module, std::span<const uint8_t> code,
           std::span<const uint8_t> note, const std::vector<uint64_t>& entries) {
    CachedDetours::Row row = {};
    row.address = site.address - module.bias;
    row.guards = site.guards();
    row.bytes_at = static_cast<uint32_t>(bytes.size());
    row.reaches_at = static_cast<uint32_t>(reaches.size());
    row.copies_at = static_cast<uint32_t>(copies.size());
    row.bytes = static_cast<uint8_t>(code.size());
    row.note = static_cast<uint8_t>(note.size());
    row.displaced = static_cast<uint8_t>(site.displaced);
    row.handlers_at = static_cast<uint8_t>(site.handlers_at);
    row.jump = site.jump;
    row.probe_copy_at =
        site.probe_copy != 0 ? static_cast<uint8_t>(site.probe_copy - site.detour) : 0;
    if (!add_copies(site, code.size()) || !add_reaches(site, module, code, entries)) {
      reaches.resize(row.reaches_at);
      copies.resize(row.copies_at);
      return;
    }
    row.reaches = static_cast<uint8_t>(reaches.size() - row.reaches_at);
    row.copies = static_cast<uint8_t>(copies.size() - row.copies_at);
    bytes.insert(bytes.end(), code.begin(), code.end());
    bytes.insert(bytes.end(), note.begin(), note.end());
    rows.push_back(row);
  }

 private:
  bool add_copies(const PatchSite& site, size_t room) {
    for (auto [offset, address] : site.copies) {
      if (address < site.detour || address >= site.detour + room) return false;
      copies.push_back({static_cast<uint8_t>(offset), static_cast<uint8_t>(address - site.detour)});
    }
    return true;
  }

  bool add_reaches(const PatchSite& site, const MappedModule& module, std::span<const uint8_t> code,
                   const std::vector<uint64_t>& entries) {
    for (size_t at = 0; at < code.size();) {
      const auto rest = code.subspan(at);
      arch::Insn insn;
      if (!arch::decode(rest, site.detour + at, insn)) return false;
      const bool inside = insn.target - site.detour < code.size();
      const size_t end = at + insn.length;
      if ((insn.branches() || insn.rip_relative) && !inside) {
        CachedReach reach;
        reach.end = static_cast<uint8_t>(end);
        reach.at = static_cast<uint8_t>(insn.rip_relative ? at + insn.disp_offset : end - 4);
        const bool wide = insn.rip_relative || insn.length >= 5;
        const auto entry = std::find(entries.begin(), entries.end(), insn.target);
        const bool of_text = insn.target >= module.begin && insn.target < module.end;
        if (!wide || (entry == entries.end() && !of_text)) return false;
        reach.is_call = entry != entries.end();
        reach.target = reach.is_call != 0 ? static_cast<uint64_t>(entry - entries.begin())
                                          : insn.target - module.bias;
        reaches.push_back(reach);
      }
      at = end;
    }
    return true;
  }
};

}  // namespace

CachedDetours::CachedDetours(CachedBytes kept, const std::vector<MappedModule>& modules)
    : kept_(std::move(kept)) {
  std::span<const char> bytes = kept_.bytes;
  std::span<const RunRow> runs;
  const bool whole = take_records(bytes, runs) && take_records(bytes, rows_) &&
                     take_records(bytes, bytes_) && take_records(bytes, reaches_) &&
                     take_records(bytes, copies_) && bytes.empty();
  if (!whole || runs.size() != modules.size()) return;
  const std::vector<uint32_t> order = by_name(modules);
  runs_.resize(modules.size());
  for (size_t i = 0; i < runs.size(); i++) {
    if (runs[i].first > rows_.size() || runs[i].count > rows_.size() - runs[i].first) return;
    runs_[order[i]] = {runs[i].first, runs[i].count, 0};
  }
  for (const MappedModule& module : modules) modules_.push_back(module.bias);
}

std::optional<CachedDetour> CachedDetours::find(const PatchSite& site) {
  if (site.module >= modules_.size()) return std::nullopt;
  Run& run = runs_[site.module];
  const std::span<const Row> rows = rows_.subspan(run.first, run.count);
  const uint64_t address = site.address - modules_[site.module];
  if (run.next >= rows.size() || rows[run.next].address != address) {  // mostly they come in order
    const auto found =
        std::lower_bound(rows.begin(), rows.end(), address,
                         [](const Row& row, uint64_t wanted) { return row.address < wanted; });
    run.next = static_cast<uint32_t>(found - rows.begin());
  }
  if (run.next >= rows.size() || rows[run.next].address != address) return std::nullopt;
  const Row& row = rows[run.next++];
  const auto within = [](auto all, size_t at, size_t count) {
    return at <= all.size() && count <= all.size() - at;
  };
  const bool fits = row.guards == site.guards() && row.displaced == site.displaced &&
                    row.handlers_at == site.handlers_at && (row.jump != 0) == site.jump;
  if (!fits || row.note > abi::kNoteBytesMax ||
      !within(bytes_, row.bytes_at, size_t{row.bytes} + row.note) ||
      !within(reaches_, row.reaches_at, row.reaches) ||
      !within(copies_, row.copies_at, row.copies)) {
    return std::nullopt;
  }
  return CachedDetour{bytes_.subspan(row.bytes_at, row.bytes),
                      bytes_.subspan(size_t{row.bytes_at} + row.bytes, row.note),
                      reaches_.subspan(row.reaches_at, row.reaches),
                      copies_.subspan(row.copies_at, row.copies), row.probe_copy_at};
}

namespace {

// Says all that a detour depends on besides its patch.
std::string detours_key(const std::vector<HandlerAbi>& abis) {
  std::string key = "detours";
  for (const HandlerAbi& abi : abis) {
    key += abi.wants_site ? " site" : " none";
    key += fmt::format(" {:x}+{}", abi.count_word, abi.count_add);  // an address in the detour
    for (uint8_t reg : abi.stack_regs) key += fmt::format(" {}", reg);
  }
  return key;
}

}  // namespace

DetourCache::DetourCache(const std::string& key, const std::vector<HandlerAbi>& abis,
                         const std::vector<MappedModule>& modules, const FileCache& files) {
  if (key.empty()) return;
  key_ = key + detours_key(abis);
  std::optional<CachedBytes> kept = files.load(name(), key_);
  is_cached_ = kept.has_value();
  if (kept) found_ = CachedDetours(std::move(*kept), modules);
}

std::string DetourCache::name() const { return "detours-" + short_name(key_); }

std::string pack_detours(const std::vector<PatchSite>& sites,
                         const std::vector<MappedModule>& modules,
                         const std::function<std::span<const uint8_t>(uint64_t, uint64_t)>& view,
                         const std::function<uint64_t(const PatchSite&, const PatchCall&)>& entry,
                         const std::function<std::span<const uint8_t>(const PatchSite&)>& note_of) {
  DetourPacker packer;
  std::vector<RunRow> runs;
  for (uint32_t module : by_name(modules)) {
    const auto first = packer.rows.size();
    for (const PatchSite& site : sites) {
      if (site.module != module || !is_simple(site)) continue;
      if (site.detour_bytes > kMostDetourBytes) continue;
      std::vector<uint64_t> entries;
      for (const PatchCall& call : site.calls) entries.push_back(entry(site, call));
      packer.add(site, modules[module], view(site.detour, site.detour_bytes), note_of(site),
                 entries);
    }
    const auto begin = packer.rows.begin() + static_cast<long>(first);
    std::sort(begin, packer.rows.end(), [](auto& a, auto& b) { return a.address < b.address; });
    runs.push_back(
        {static_cast<uint32_t>(first), static_cast<uint32_t>(packer.rows.size() - first)});
  }
  return all_records(runs, packer.rows, packer.bytes, packer.reaches, packer.copies);
}

}  // namespace dj
