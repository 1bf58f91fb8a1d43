// SPDX-License-Identifier: Apache-2.0
// write_sites() puts sites into the text of the target, restore_sites() takes them out again, a
// batch at a time. djtap always looks at the bytes in memory first: it writes over no bytes that
// differ from the file's, and puts nothing back over bytes that are not its own. All threads are
// stopped.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/patch/site_list.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"
#include "runtime/process/text_patch.h"

namespace dj {

// Makes Gone those of `sites` whose module is no longer mapped where it was. `modules`: as they
// were when the sites were planned; PatchSite::module is an index into them.
Status find_gone(const Stopped& stopped, const SiteList& sites,
                 const std::vector<MappedModule>& modules);
// The same with the modules that are mapped now, ascending.
void find_gone(const std::vector<MappedModule>& now, const SiteList& sites,
               const std::vector<MappedModule>& modules);

class TextImage;  // text_image.h

// Checks the sites that have no patch in the text. Where the bytes there are not the file's,
// Registered sites become Skipped, others Gone. `text` has been read. False: no site was refused.
bool check_text(const TextImage& text, const SiteList& sites);

// Returns what write_sites() is to write for these sites.
std::vector<TextPatch> patches_of(const SiteList& sites);
// Writes `patches`, the jump or int3 of each Registered or Disarmed site. The caller has moved the
// threads out. `text`: as check_text() has seen it.
Status write_sites(const TextMemory& memory, TextImage& text, const SiteList& sites,
                   const std::vector<TextPatch>& patches);

// Puts the original bytes of each armed site back and verifies them. Where another program has
// changed djtap's bytes it writes nothing, and sets `damage` to a sentence that says so.
Status restore_sites(const TextMemory& memory, const SiteList& sites, std::string& damage);

}  // namespace dj
