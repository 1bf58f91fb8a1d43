// Built-ins that name the probe point: words of its SiteInfo.
#include "runtime/agent/scratch.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {
const abi::Str* site_text(uint32_t site, uint32_t abi::SiteInfo::*field) {
  const abi::Header* header = agent::arena();
  if (site >= header->site_count) return agent::empty_string();
  uint64_t text = reinterpret_cast<const abi::SiteInfo*>(header->sites)[site].*field;
  return text == 0 ? agent::empty_string() : reinterpret_cast<const abi::Str*>(text);
}
}  // namespace

const abi::Str* dj_probefunc(uint32_t site) { return site_text(site, &abi::SiteInfo::probefunc); }
const abi::Str* dj_ppfunc(uint32_t site) { return site_text(site, &abi::SiteInfo::ppfunc); }
const abi::Str* dj_pp(uint32_t site) { return site_text(site, &abi::SiteInfo::pp); }
const abi::Str* dj_probemod(uint32_t site) { return site_text(site, &abi::SiteInfo::module); }
