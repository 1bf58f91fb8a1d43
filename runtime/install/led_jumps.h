// SPDX-License-Identifier: Apache-2.0
// LedJumps finds jumps of the program that arrive at the guards of a hot site: for example, where
// one function jumps into another one, behind its first instruction. djtap leads them straight to
// the copies of the instructions there (arch/x86_64/incoming_jumps.h), so that no thread traps any
// more. A thread beside looks for them, one site after the other. The program stands only for the
// writing.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "compiler/base/spare_thread.h"
#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"
#include "runtime/text/site_text.h"

namespace dj {

class LedJumps {
 public:
  // Jumps of one installation at most: the journal has room for so many.
  static constexpr size_t kMost = 256;

  // Wants the jumps to the guards of this site searched. It takes each site once; false: it has
  // taken this one before.
  bool want(size_t site);
  // Begins to search for the next site that is wanted, unless a search is under way or its result
  // waits. `sites`: those whose indexes want() took. `modules`: those of the sites. The process may
  // run.
  void look(const std::vector<PatchSite>& sites, const std::vector<MappedModule>& modules,
            const ReadText& read_text);
  // A search has ended, and found() has not taken its result.
  bool is_found() const;
  // Found: what a search has found for one site.
  struct Found {
    size_t site = 0;
    SiteList jumps;  // to be written; they are among all() from now on
  };
  // Takes the result of the search. Leaves out a jump that touches one of the places `taken`. Call
  // it when is_found() says so; the process may run.
  Found found(const SiteList& taken);
  // Waits for a search to end, and forgets its result.
  void end_looking() { search_.reset(); }
  SiteList all();

 private:
  // Search: what the thread works on.
  struct Search {
    size_t site = 0;
    std::vector<PatchSite> jumps;
    std::optional<SpareThread> thread;  // joined before the others go
  };
  std::unique_ptr<Search> search_;
  std::deque<size_t> wanted_;
  std::set<size_t> known_;  // those that were wanted
  std::deque<PatchSite> jumps_;
};

}  // namespace dj
