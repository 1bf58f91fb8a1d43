// SPDX-License-Identifier: Apache-2.0
// Batches of sites, each page written once (text_patch.h).
#include "runtime/text/site_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/parallel.h"
#include "runtime/process/process.h"
#include "runtime/text/text_image.h"

namespace dj {
namespace {

// step() of each, by several threads unless steps are logged, in order.
template <typename Step>
void each_site(const SiteList& sites, const Step& step) {
  if (is_engine_logged()) {
    for (PatchSite* site : sites) step(*site);
  } else {
    parallel<kLightChunk>(sites.size(), [&](size_t i) { step(*sites[i]); });
  }
}

}  // namespace

void find_gone(const std::vector<MappedModule>& now, const SiteList& sites,
               const std::vector<MappedModule>& modules) {
  std::vector<bool> mapped(modules.size());
  for (size_t i = 0; i < modules.size(); i++) {
    mapped[i] = is_mapped(modules[i], now);
  }
  for (PatchSite* site : sites) {
    if (!mapped[site->module] && is_legal_step(site->state, SiteState::Gone)) {
      set_state(*site, SiteState::Gone, "its module was unmapped");
    }
  }
}

Status find_gone(const Stopped& stopped, const SiteList& sites,
                 const std::vector<MappedModule>& modules) {
  DJ_TRY(const std::vector<MappedModule> now, mapped_modules(stopped.pid()));
  find_gone(now, sites, modules);
  return ok_status();
}

bool check_text(const TextImage& text, const SiteList& sites) {
  enum Found : uint8_t { Original, Other, Nothing };
  std::vector<Found> found(sites.size());
  parallel<kLightChunk>(sites.size(), [&](size_t i) {
    bool readable = true;
    if (!sites[i]->is_waiting() || text.equals(sites[i]->address, sites[i]->original, &readable))
      return;
    found[i] = readable ? Other : Nothing;
  });
  bool refused = false;
  for (size_t i = 0; i < sites.size(); i++) {
    PatchSite* const site = sites[i];
    if (found[i] == Original) continue;
    refused = true;
    if (found[i] == Nothing) {
      set_state(*site, SiteState::Gone, "its module was unmapped");
    } else if (site->state == SiteState::Registered) {
      site->skip("text differs from the file");
    } else {
      set_state(*site, SiteState::Gone, "other bytes stand there");
    }
  }
  return refused;
}

std::vector<TextPatch> patches_of(const SiteList& sites) {
  std::vector<TextPatch> patches;
  patches.reserve(sites.size());
  for (const PatchSite* site : sites) {
    if (site->is_waiting()) {
      patches.push_back({site->address, site->patched()});
    }
  }
  return patches;
}

Status write_sites(const TextMemory& memory, TextImage& text, const SiteList& sites,
                   const std::vector<TextPatch>& patches) {
  each_site(sites, [](PatchSite& site) {
    if (site.is_waiting()) {
      set_state(site, site.jump ? SiteState::Optimizing : SiteState::Int3, site.reason.str());
    }
  });
  Status written = text.write(memory, patches);
  each_site(sites, [](PatchSite& site) {
    if (site.state == SiteState::Optimizing) {
      set_state(site, SiteState::Optimized, "all threads stand outside");
    }
  });
  return written;
}

Status restore_sites(const TextMemory& memory, const SiteList& sites, std::string& damage) {
  SiteList armed, known;
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(armed),
               [](const PatchSite* site) { return site->armed() || site->half_written(); });
  TextImage text(armed);
  text.read(memory);
  std::vector<TextPatch> patches;
  for (PatchSite* site : armed) {
    bool readable = true;
    const arch::JumpBytes ours = site->patched();
    const arch::JumpBytes original(std::span(site->original).first(ours.size()));
    const bool is_original = text.equals(site->address, original, &readable);
    if (!readable) {
      set_state(*site, SiteState::Gone, "its module was unmapped");
    } else if (site->half_written() ||
               (!is_original && text.is_of_both(site->address, ours, original))) {
      known.push_back(site);
      patches.push_back({site->address, original});
    } else if (is_original) {
      set_state(*site, SiteState::Gone, "its original bytes stand there");
    } else {
      set_state(*site, SiteState::Gone, "other bytes stand there");
      damage = fmt::format("the {} at {:#x} was changed by somebody else and is left as it is",
                           site->word ? "word" : "text", site->address);
    }
  }
  DJ_TRY_DO(text.write(memory, patches));
  text.read(memory);
  for (const TextPatch& patch : patches) {
    bool readable = true;
    if (!text.equals(patch.address, patch.bytes, &readable)) {
      return Error{fmt::format("the original text at {:#x} could not be put back", patch.address)};
    }
  }
  for (PatchSite* site : known) set_state(*site, SiteState::Disarmed);
  return ok_status();
}

}  // namespace dj
