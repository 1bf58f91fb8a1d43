// SPDX-License-Identifier: Apache-2.0
// Putting sites into the text of the target and taking them out again, a batch at a time. The bytes
// that stand there are looked at first, always: nothing is written over bytes that are not the
// file's, and nothing is put back over bytes that are not ours. All threads are stopped.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/patch/site_list.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"
#include "runtime/process/text_patch.h"

namespace dj {

// Those of `sites` whose module is no longer mapped where it was become Gone. `modules`: as they
// were when the sites were planned; PatchSite::module is an index into them.
Status find_gone(const Stopped& stopped, const SiteList& sites,
                 const std::vector<MappedModule>& modules);
// The same where it is known what is mapped now; ascending.
void find_gone(const std::vector<MappedModule>& now, const SiteList& sites,
               const std::vector<MappedModule>& modules);

class TextImage;  // text_image.h

// Sites without a patch in the text whose bytes there are not the file's: Registered ones become
// Skipped, others Gone. `text` has been read. False: there are none.
bool check_text(const TextImage& text, const SiteList& sites);

// What write_sites() would write.
std::vector<TextPatch> patches_of(const SiteList& sites);
// Writes `patches`, the jump or int3 of each Registered or Disarmed site. The threads have been
// moved out. `text`: as check_text() has seen it.
Status write_sites(const TextMemory& memory, TextImage& text, const SiteList& sites,
                   const std::vector<TextPatch>& patches);

// Puts the original bytes of each armed site back and verifies them. `damage` is set, and nothing
// written there, where somebody else has changed our bytes.
Status restore_sites(const TextMemory& memory, const SiteList& sites, std::string& damage);

}  // namespace dj
