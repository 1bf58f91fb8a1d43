// SPDX-License-Identifier: Apache-2.0
// Rows of fixed size with the modules' own addresses.
#include "runtime/patch/patch_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "arch/x86_64/check_results.h"
#include "arch/x86_64/decode.h"
#include "compiler/base/packed.h"
#include "compiler/base/parallel.h"

namespace dj {
namespace {

struct PlaceRow {
  uint64_t address;
  uint32_t module, form;  // 1 more than the index of its FormRow; 0: none
  uint32_t bytes_at, calls_at, owners_at;
  uint16_t calls, owners;
  PackedText reason;
  uint32_t displaced, rest, handlers_at;
  uint8_t bytes, jump, hook, skipped;
};
struct FormRow {
  arch::Region region;
  uint32_t placements_at;
  uint8_t placements, int3_at, int3_length;
};
struct CountsRow {
  uint64_t sites;  // the other places are hooks
  uint64_t live, sets_gs_base;
};
static_assert(std::is_trivially_copyable_v<FormRow> &&
              std::is_trivially_copyable_v<arch::Placement>);

// One module as patches depend on it; empty: it cannot be relied on.
std::string line_of(const MappedModule& m) {
  const std::string file = m.is_vdso ? "vdso" : file_identity(m.open_path);
  if (file.empty() || is_replaced(m)) return "";
  std::string line =
      fmt::format("{} {} {} {} {}", m.path, file, m.is_executable_file, m.partial, m.shared);
  for (const std::vector<AddressRange>* ranges : {&m.text, &m.writable}) {
    for (const AddressRange& range : *ranges) {
      line += fmt::format(" {:x}-{:x}", range.begin - m.bias, range.end - m.bias);
    }
    line += ";";
  }
  return line;
}

// All that the rows point into.
struct Packed {
  std::vector<PlaceRow> places;
  std::vector<FormRow> forms;
  std::vector<arch::Placement> placements;
  std::vector<PatchCall> calls;
  std::vector<SiteId> owners;
  std::vector<uint8_t> bytes;
  TextPacker texts;

  void reserve(size_t count);
  bool add(const PatchSite& site, uint32_t module, uint64_t bias);
  uint32_t add(const JumpForm& form, uint64_t bias);
};

// What most places need: growing by doubling would touch three times as much memory.
void Packed::reserve(size_t count) {
  places.reserve(count);
  forms.reserve(count);
  placements.reserve(4 * count);
  calls.reserve(count);
  owners.reserve(count);
  bytes.reserve(8 * count);
}

uint32_t Packed::add(const JumpForm& form, uint64_t bias) {
  FormRow row = {form.region, static_cast<uint32_t>(placements.size()),
                 static_cast<uint8_t>(form.placements.size()), form.int3_at, form.int3_length};
  row.region.address -= bias;
  row.region.probe_address -= row.region.probe_address != 0 ? bias : 0;
  for (arch::Placement placement : form.placements) {
    placement.jump -= bias;
    placements.push_back(placement);
  }
  forms.push_back(row);
  return static_cast<uint32_t>(forms.size());
}

// False: it is not kept.
bool Packed::add(const PatchSite& site, uint32_t module, uint64_t bias) {
  const bool plain = !site.leaving && site.name.empty() && site.calls.size() < 65536 &&
                     site.owners.size() < 65536 && site.original.size() < 256;
  const bool fresh = site.state == SiteState::Registered || site.state == SiteState::Skipped;
  if (!plain || !fresh) return false;
  PlaceRow row = {};
  row.address = site.address - bias;
  row.module = module;
  row.form = site.form ? add(*site.form, bias) : 0;
  row.bytes_at = static_cast<uint32_t>(bytes.size());
  row.bytes = static_cast<uint8_t>(site.original.size());
  row.calls_at = static_cast<uint32_t>(calls.size());
  row.calls = static_cast<uint16_t>(site.calls.size());
  row.owners_at = static_cast<uint32_t>(owners.size());
  row.owners = static_cast<uint16_t>(site.owners.size());
  if (!site.reason.empty()) row.reason = texts.add(site.reason.str());
  row.displaced = site.displaced;
  row.rest = site.rest;
  row.handlers_at = site.handlers_at;
  row.jump = site.jump;
  row.hook = site.hook;
  row.skipped = site.state == SiteState::Skipped;
  bytes.insert(bytes.end(), site.original.begin(), site.original.end());
  calls.insert(calls.end(), site.calls.begin(), site.calls.end());
  owners.insert(owners.end(), site.owners.begin(), site.owners.end());
  places.push_back(row);
  return true;
}

// The same where it is mapped.
class Unpacker {
 public:
  Unpacker(const Plan& plan, const std::vector<MappedModule>& modules)
      : plan_(plan), modules_(modules) {}

  bool read(std::span<const char> bytes, PatchPlan& out) {
    std::span<const CountsRow> counts;
    std::span<const PlaceRow> places;
    const bool whole = take_records(bytes, counts) && take_records(bytes, places) &&
                       take_records(bytes, forms_) && take_records(bytes, placements_) &&
                       take_records(bytes, calls_) && take_records(bytes, owners_) &&
                       take_records(bytes, bytes_) && take_records(bytes, texts_) && bytes.empty();
    if (!whole || counts.size() != 1 || counts.front().sites > places.size()) return false;
    out.live = counts.front().live != 0;
    out.sets_gs_base = counts.front().sets_gs_base != 0;
    const std::vector<uint32_t> order = by_name(modules_);
    std::vector<std::vector<size_t>> by_module(modules_.size());
    for (size_t i = 0; i < places.size(); i++) {
      if (places[i].module >= order.size()) return false;
      by_module[order[places[i].module]].push_back(i);
    }
    out.sites.reserve(counts.front().sites);
    for (size_t module = 0; module < modules_.size(); module++) {  // in memory's order, as planned
      for (const size_t i : by_module[module]) {
        std::vector<PatchSite>& list = i < counts.front().sites ? out.sites : out.hooks;
        if (!fill(places[i], module, list.emplace_back())) return false;
      }
    }
    return true;
  }

 private:
  template <typename T>
  static bool part(std::span<const T> all, size_t at, size_t count, std::span<const T>& part) {
    if (at > all.size() || count > all.size() - at) return false;
    part = all.subspan(at, count);
    return true;
  }
  bool fill(const PlaceRow& row, size_t module, PatchSite& site);
  bool fill(const FormRow& row, uint64_t bias, JumpForm& form);

  const Plan& plan_;
  const std::vector<MappedModule>& modules_;
  std::span<const FormRow> forms_;
  std::span<const arch::Placement> placements_;
  std::span<const PatchCall> calls_;
  std::span<const SiteId> owners_;
  std::span<const uint8_t> bytes_;
  std::span<const char> texts_;
};

// Are the first `count` bytes whole instructions, and padding behind one that leaves? The text is
// compared with `bytes` before it is written.
bool are_whole(std::span<const uint8_t> bytes, uint64_t count) {
  uint64_t at = 0;
  arch::Insn insn;
  while (at < count && arch::decode(bytes.subspan(at), at, insn)) {
    at += insn.length;
    if (insn.leaves()) return at <= count;
  }
  return at == count;
}

bool Unpacker::fill(const PlaceRow& row, size_t module, PatchSite& site) {
  std::span<const uint8_t> bytes;
  std::span<const PatchCall> calls;
  std::span<const SiteId> owners;
  bool whole = part(bytes_, row.bytes_at, row.bytes, bytes) &&
               part(calls_, row.calls_at, row.calls, calls) &&
               part(owners_, row.owners_at, row.owners, owners) && row.module < modules_.size() &&
               row.form <= forms_.size() &&
               (row.skipped != 0 || (row.bytes > 0 && row.displaced <= row.bytes &&
                                     row.rest <= row.displaced && are_whole(bytes, row.displaced)));
  for (const PatchCall& call : calls) {
    const bool known = call.site < plan_.sites.size() && call.handler < plan_.handlers.size();
    whole = whole && (known || call.kind == PatchCall::Object);
  }
  for (SiteId owner : owners) whole = whole && owner < plan_.sites.size();
  if (!whole) return false;
  const uint64_t bias = modules_[module].bias;
  site.address = row.address + bias;
  site.module = static_cast<uint32_t>(module);
  site.original.assign(bytes.begin(), bytes.end());
  site.displaced = row.displaced;
  site.rest = row.rest;
  site.handlers_at = row.handlers_at;
  site.jump = row.jump != 0;
  site.hook = row.hook != 0;
  site.calls.assign(calls.begin(), calls.end());
  site.owners.assign(owners.begin(), owners.end());
  site.reason = std::string(text_of(texts_, row.reason, &whole));
  if (row.skipped != 0) site.skip(site.reason);
  if (row.form == 0) return whole;
  site.form = std::make_shared<JumpForm>();
  return whole && fill(forms_[row.form - 1], bias, *site.form);
}

bool Unpacker::fill(const FormRow& row, uint64_t bias, JumpForm& form) {
  std::span<const arch::Placement> placements;
  const auto is_whole = [&](const arch::Placement& p) {
    return p.tactic <= arch::Tactic::Punned && p.length <= row.region.stretch;
  };
  if (!part(placements_, row.placements_at, row.placements, placements) ||
      !arch::is_possible(row.region) ||
      !std::all_of(placements.begin(), placements.end(), is_whole)) {
    return false;
  }
  form.region = row.region;
  form.region.address += bias;
  form.region.probe_address += row.region.probe_address != 0 ? bias : 0;
  form.placements.assign(placements.begin(), placements.end());
  for (arch::Placement& placement : form.placements) placement.jump += bias;
  form.int3_at = row.int3_at;
  form.int3_length = row.int3_length;
  return true;
}

}  // namespace

std::vector<uint32_t> by_name(const std::vector<MappedModule>& modules) {
  std::vector<uint32_t> order(modules.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  const auto rank = [&](uint32_t i) {
    const MappedModule& m = modules[i];
    const uint64_t text = m.text.empty() ? 0 : m.text.front().begin - m.bias;
    return std::tuple(std::string_view(m.path), m.partial, text);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  return order;
}

std::string patches_key(const std::string& plan_key, const PatchInput& input) {
  const auto& [plan, modules, o, facts, first, counting] = input;
  if (plan_key.empty() || input.plan.first_site > 0 || input.is_dlopened() ||
      !facts.no_int3.empty() || is_engine_logged())
    return "";
  std::string key =
      plan_key + fmt::format("patches {} {} {} {} {} {} {}\n", o.optimize,
                             static_cast<int>(o.guards), o.overlap, o.switched, facts.has_rseq,
                             facts.makes_system_calls, input.is_live());
  for (const bool counts : counting) key += counts ? '+' : '-';
  key += '\n';
  for (uint32_t i : by_name(modules)) {
    const std::string line = line_of(modules[i]);
    if (line.empty()) return "";
    key += line + "\n";
  }
  return key;
}

std::string pack_patches(const PatchPlan& patches, const std::vector<MappedModule>& modules) {
  Packed packed;
  packed.reserve(patches.sites.size() + patches.hooks.size());
  std::vector<uint32_t> number(modules.size());
  const std::vector<uint32_t> order = by_name(modules);
  for (uint32_t i = 0; i < order.size(); i++) number[order[i]] = i;
  for (const std::vector<PatchSite>* places : {&patches.sites, &patches.hooks}) {
    for (const PatchSite& site : *places) {
      if (!packed.add(site, number[site.module], modules[site.module].bias)) return "";
    }
  }
  const CountsRow counts[] = {{patches.sites.size(), patches.live, patches.sets_gs_base}};
  return all_records(counts, packed.places, packed.forms, packed.placements, packed.calls,
                     packed.owners, packed.bytes, packed.texts.all());
}

std::optional<PatchPlan> unpack_patches(std::span<const char> bytes, const Plan& plan,
                                        const std::vector<MappedModule>& modules) {
  PatchPlan patches;
  if (!Unpacker(plan, modules).read(bytes, patches)) return std::nullopt;
  return patches;
}

namespace {

PatchPlan nameless_patches(const PatchInput& input, ModuleCodes& codes) {
  const FileCache& files = codes.file_cache();
  const std::string key = files.keeps() ? patches_key(codes.plan_key, input) : "";
  if (key.empty()) return plan_patches(input, codes);
  const std::string name = "patches-" + short_name(key);
  std::optional<PatchPlan> patches;
  if (std::optional<CachedBytes> kept = files.load(name, key))
    patches = unpack_patches(kept->bytes, input.plan, input.modules);
  if (!patches) {
    patches = plan_patches(input, codes);
    codes.keep(name, key, pack_patches(*patches, input.modules));
  }
  patches->key = key;
  return std::move(*patches);
}

}  // namespace

PatchPlan find_patches(const PatchInput& input, ModuleCodes& codes) {
  SiteNames names;
  PatchPlan patches;
  both(
      input.plan.sites.size(), [&] { patches = nameless_patches(input, codes); },
      [&] { names = SiteNames(input.plan); });
  patches.names = std::move(names);
  return patches;
}

}  // namespace dj
