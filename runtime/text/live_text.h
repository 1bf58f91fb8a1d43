// SPDX-License-Identifier: Apache-2.0
// LiveText writes text while other threads execute it, in three phases a batch. After each phase it
// serializes all processors that run the process (membarrier, made by one stopped thread of the
// target):
//   1. int3 on the first byte and on every instruction inside the jump's bytes,
//   2. all bytes but the first,
//   3. the first byte.
// A thread that meets an int3 goes on in the detour. Between 1 and 2 the caller moves each thread
// that stands inside a jump's bytes to the detour. Removal goes the same way back and needs no such
// move.
//
// A phase writes a page by one call (text_image.h). With the sites it writes what lies between
// them, as LiveText read it before the first phase: 40,000 sites of libLLVM would else take 190 ms,
// not 25. Only the program itself could have changed these bytes meanwhile, and sites are in text
// of files that it may not write.
#pragma once
#include <functional>

#include "compiler/base/result.h"
#include "runtime/text/site_text.h"
#include "runtime/text/text_image.h"

namespace dj {

// Bit i: an instruction that the jump's bytes change begins at address + i, i > 0.
uint32_t live_boundaries(const PatchSite& site);
// Whether LiveText can write the site's text: all bytes that change must belong to instructions
// that its detour has. Call it when the detour is built.
bool can_write_live(const PatchSite& site);

// LiveText: one batch. `stopped`: at least one thread, which stays stopped.
class LiveText {
 public:
  LiveText(Stopped& stopped, const SiteList& sites) : stopped_(stopped), text_(sites) {}
  // Registers the process for the barrier; fails with Unsupported where the kernel has none. It
  // writes nothing.
  Status prepare();
  // Writes the jump or int3 of those of `sites` (the constructor's) that are Registered or Disarmed
  // and whose text the caller has checked. `quiesce` moves all threads out of the sites' bytes.
  // When write() fails, the sites are in an unfinished state: call abandon().
  Status write(const SiteList& sites, const std::function<Status()>& quiesce);
  // Puts the original bytes of `sites` (the constructor's) back as restore_sites() does.
  Status restore(const SiteList& sites, std::string& damage);
  // Puts back the original bytes of sites that a failed write() or restore() has left unfinished;
  // they become Disarmed. All threads are stopped.
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
