// SPDX-License-Identifier: Apache-2.0
// SiteNames holds what the sites of a plan are called, and to which probes their handlers belong.
// It copies that from the plan into few blocks of memory, as the plans of dlopened objects do not
// last.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/packed.h"
#include "compiler/stages/plan.h"

namespace dj {

class SiteNames {
 public:
  SiteNames() = default;  // of no site
  explicit SiteNames(const Plan& plan);

  size_t size() const { return names_.size(); }
  // The functions below take the session's number of a site of the plan.

  // False for the site by which djtap follows the target's loader: no output lists it.
  bool is_listed(SiteId id) const { return !loader_site_ || id != first_site_ + *loader_site_; }
  // "symbol+0x12": an ELF address of the site's module, from where the site's function begins.
  std::string symbol_at(SiteId id, uint64_t address) const;
  // The same with the name that the program's language gives the function ("shop.total+0x12");
  // empty where that is the symbol's, as shown_symbol() makes it.
  std::string foreign_at(SiteId id, uint64_t address) const;
  // The one of these that a reader knows.
  std::string shown_at(SiteId id, uint64_t address) const;
  char letter(SiteId id) const { return site_letter(of(id).kind); }
  // Takes the plan's own number of a handler.
  ProbeId probe(HandlerId handler) const { return probes_[handler]; }

 private:
  struct Name {
    PackedText symbol, foreign;  // in texts_
    SiteKind kind = {};
    uint64_t function_begin = 0;  // ELF address
  };
  const Name& of(SiteId id) const { return names_[id - first_site_]; }
  std::string at(PackedText text, SiteId id, uint64_t address) const;

  std::vector<Name> names_;  // by SiteId less first_site_
  TextPacker texts_;
  std::vector<ProbeId> probes_;  // by HandlerId
  SiteId first_site_ = 0;
  std::optional<SiteId> loader_site_;
};

}  // namespace dj
