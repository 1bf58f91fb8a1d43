// SPDX-License-Identifier: Apache-2.0
// RecordRules knows which records the handlers of this session's script can send. A traced program
// itself has written any other record that lies in a ring.
#pragma once
#include <set>
#include <vector>

#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "runtime/shared/event.h"

namespace dj {

class RecordRules {
 public:
  // Looks at what the probes' bodies reach. All three must outlive this object; sites may join the
  // plan later.
  RecordRules(const Program& program, const Plan& plan, const Layout& layout);
  // Whether a handler sends records of this kind; every handler may send kEventError.
  bool sends(uint16_t kind) const { return kind < kinds_.size() && kinds_[kind]; }
  // Whether the session has a site of that number. Handlers that do not ask for their site send 0.
  bool has_site(uint32_t site) const;
  // Returns the format `number` of a print with so many arguments; null: no handler prints that.
  const Format* format(uint32_t number, uint32_t arguments) const;
  // Returns the script's own copy of the shape that a printed histogram claims to have; null: no
  // handler prints a histogram of that form (HistForm) and shape.
  const abi::StatShape* shape(const abi::StatShape& claimed, uint32_t form) const;

 private:
  struct Look;
  const Program& program_;
  const Plan& plan_;
  std::vector<bool> kinds_;                                      // by EventKind
  std::vector<bool> formats_;                                    // by FormatId
  std::vector<std::pair<uint32_t, abi::StatShape>> histograms_;  // form and shape
};

}  // namespace dj
