// SPDX-License-Identifier: Apache-2.0
// The letters by which --probes shows a site's kind; sites by their numbers.
#include "compiler/stages/plan.h"

namespace dj {

char site_letter(SiteKind kind) {
  switch (kind) {
    case SiteKind::Entry:
      return 'e';
    case SiteKind::Return:
      return 'r';
    case SiteKind::Statement:
      return 's';
  }
  return '?';
}

const Site* site_numbered(const Plan& plan, uint32_t number) {
  if (number < plan.sites.size()) return &plan.sites[number];
  const size_t first_dlopened = plan.sites.size() + plan.host_probes.size();
  if (number < first_dlopened || number - first_dlopened >= plan.dlopened.size()) return nullptr;
  return &plan.dlopened[number - first_dlopened];
}

}  // namespace dj
