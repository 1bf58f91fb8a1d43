// SPDX-License-Identifier: Apache-2.0
// Putting sites into the text of the target and taking them out again, a batch at a time. The bytes
// that stand there are looked at first, always: nothing is written over bytes that are not the
// file's, and nothing is put back over bytes that are not ours. All threads are stopped.
#pragma once
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"
#include "runtime/process/text_patch.h"

namespace dj {

using SiteList = std::vector<PatchSite*>;  // none of them null

// Those of `sites` whose module is no longer mapped where it was become Gone. `modules`: as they
// were when the sites were planned; PatchSite::module is an index into them.
Status find_gone(const Stopped& stopped, const SiteList& sites,
                 const std::vector<MappedModule>& modules);

class TextImage;  // text_image.h

// Sites without a patch in the text whose bytes there are not the file's: Registered ones become
// Skipped, others Gone. `text` has been read. False: there are none.
bool check_text(const TextImage& text, const SiteList& sites);

// Registered sites whose jumps lean on others (arch::Region::lean), and those, the highest first.
SiteList sharing(const SiteList& sites);

// Sites that will be written, entered from the highest down.
class Standing {
 public:
  void add(const PatchSite& site) { sites_[site.address] = &site; }
  // What the bytes that this jump shares with those above it (Region::shared) will be.
  std::array<uint8_t, 8> shared_by(const PatchSite& site) const;

 private:
  std::unordered_map<uint64_t, const PatchSite*> sites_;
};

// Registered sites whose jump leans on others of which one will not be written.
SiteList without_support(const SiteList& sites);

// A return that is not seen at one exit is seen at none: the other exits of those that have lost
// one.
SiteList partners(const SiteList& sites);

// What write_sites() would write.
std::vector<TextPatch> patches_of(const SiteList& sites);
// Writes `patches`, the jump or int3 of each Registered or Disarmed site. The threads have been
// moved out. `text`: as check_text() has seen it.
Status write_sites(const Stopped& stopped, TextImage& text, const SiteList& sites,
                   const std::vector<TextPatch>& patches);

// Puts the original bytes of each armed site back and verifies them. `damage` is set, and nothing
// written there, where somebody else has changed our bytes.
Status restore_sites(const Stopped& stopped, const SiteList& sites, std::string& damage);

}  // namespace dj
