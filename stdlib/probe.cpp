// SPDX-License-Identifier: Apache-2.0
// Built-ins about the probe point: words of its SiteInfo; of a sample, what is at its program
// counter.
#include "runtime/agent/scratch.h"
#include "runtime/agent/stack_walk.h"
#include "runtime/shared/input.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {
const abi::Str* site_text(uint32_t site, abi::ArenaRef<const abi::Str> abi::SiteInfo::* field) {
  const abi::Header* header = agent::arena();
  if (site >= header->site_count) return agent::empty_string();
  const abi::SiteInfo& info = header->sites.get(agent::place())[site];
  const abi::Str* text = (info.*field).is_set() ? (info.*field).get(agent::place()) : nullptr;
  const bool nameless = text == nullptr || abi::text_of(text).len == 0;
  if (nameless && info.pc != 0) {  // only a sample has a place without a name
    const agent::StackSymbolAt at = agent::symbol_at(info.pc, agent::kWalkedNow);
    const abi::Str* found = field == &abi::SiteInfo::module ? at.module : at.name;
    // The table's text is not the one that keys are compared with.
    return found == nullptr ? agent::empty_string() : dj_intern(found);
  }
  return text == nullptr ? agent::empty_string() : text;
}
}  // namespace

const abi::Str* dj_probefunc(uint32_t site) { return site_text(site, &abi::SiteInfo::probefunc); }
const abi::Str* dj_ppfunc(uint32_t site) { return site_text(site, &abi::SiteInfo::ppfunc); }
const abi::Str* dj_pp(uint32_t site) { return site_text(site, &abi::SiteInfo::pp); }
const abi::Str* dj_probemod(uint32_t site) { return site_text(site, &abi::SiteInfo::module); }

const abi::Str* dj_input_char(uint32_t site, abi::Context* ctx) {
  const abi::Header* header = agent::arena();
  if (site >= header->site_count) return agent::empty_string();
  const uint64_t word = header->sites.get(agent::place())[site].bias;
  const char byte = static_cast<char>(word);
  if ((word & abi::kInputByte) == 0 || byte == '\0') return agent::empty_string();
  return agent::make_string(ctx, &byte, 1);
}
