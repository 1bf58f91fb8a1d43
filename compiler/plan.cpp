// The letters by which --probes shows a site's kind.
#include "compiler/plan.h"

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

}  // namespace dj
