// SPDX-License-Identifier: Apache-2.0
// LedJumps: jumps of the program that arrive at the guards of a hot site, as where one function
// jumps into another one, behind its first instruction. They are led straight to the copies of the
// instructions there (arch/x86_64/incoming_jumps.h), so that nobody traps any more. They are looked
// for in a thread beside, one site after the other; the program stands only for the writing.
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
  // Of one installation: the journal has room for so many.
  static constexpr size_t kMost = 256;

  // The jumps to the guards of this site shall be looked for. Once: false if they were.
  bool want(size_t site);
  // Begins with the next one that is wanted, unless a search is under way or its result waits.
  // `sites`: of which those are indexes; `modules`: those of the sites. The process may run.
  void look(const std::vector<PatchSite>& sites, const std::vector<MappedModule>& modules,
            const ReadText& read_text);
  // A search has ended, and found() has not been asked.
  bool is_found() const;
  // What is known now of one site.
  struct Found {
    size_t site = 0;
    SiteList jumps;  // to be written; they are among all() from now on
  };
  // A jump that touches one of the places `taken` is left out. Call it when is_found() says so; the
  // process may run.
  Found found(const SiteList& taken);
  // Waits for a search, and forgets it.
  void end_looking() { search_.reset(); }
  SiteList all();

 private:
  // Of the thread.
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
