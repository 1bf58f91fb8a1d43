// SPDX-License-Identifier: Apache-2.0
// Writing text that other threads execute. Three phases a batch, and after each all processors
// that run the process are serialized (membarrier, made by one stopped thread of the target):
//   1. int3 on the first byte and on every instruction inside the jump's bytes,
//   2. all bytes but the first,
//   3. the first byte.
// Whoever meets an int3 goes on in the detour. Between 1 and 2 everybody who stands inside a jump's
// bytes must be moved to the detour; removal, the same way back, needs no such moment.
//
// A phase writes a page by one call (text_image.h), with what lies between the sites as it was read
// before the first phase: 40,000 sites of libLLVM would else take 190 ms, not 25. Only the program
// itself could have changed these bytes meanwhile, and sites are in files' text that it may not
// write.
#pragma once
#include <functional>

#include "compiler/base/result.h"
#include "runtime/text/site_text.h"
#include "runtime/text/text_image.h"

namespace dj {

// Bit i: an instruction that the jump's bytes change begins at address + i, i > 0.
uint32_t live_boundaries(const PatchSite& site);
// Can the site's text be written so? All bytes that change must belong to instructions that its
// detour has. Asked when the detour is built.
bool can_write_live(const PatchSite& site);

// LiveText: one batch. `stopped`: at least one thread; it stays stopped.
class LiveText {
 public:
  LiveText(Stopped& stopped, const SiteList& sites) : stopped_(stopped), text_(sites) {}
  // Readies the process; fails with Unsupported where the kernel has no such barrier. Nothing is
  // written.
  Status prepare();
  // Writes the jump or int3 of those of `sites` (the constructor's) that are Registered or
  // Disarmed, whose text has been checked. `quiesce` moves everybody out of the sites' bytes. When
  // it fails, the sites are in an unfinished state: abandon().
  Status write(const SiteList& sites, const std::function<Status()>& quiesce);
  // Puts original bytes of `sites` (the constructor's) back as restore_sites() does.
  Status restore(const SiteList& sites, std::string& damage);
  // All threads are stopped: the original bytes of sites that a failed write() or restore() left
  // unfinished, which become Disarmed.
  static Status abandon(const Stopped& stopped, const SiteList& sites);
  uint64_t write_ns() const { return write_ns_; }  // spent in the phases

 private:
  Status barrier();
  Status phase(const std::vector<TextPatch>& patches);
  SiteList find_armed(const SiteList& sites, std::string& damage);
  Status verify(const SiteList& sites);
  Stopped& stopped_;
  TextImage text_;
  uint64_t write_ns_ = 0;
};

}  // namespace dj
