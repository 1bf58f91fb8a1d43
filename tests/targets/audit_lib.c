// A library for LD_AUDIT: the loader opens it, in a list of objects of its own, before the program's.
#define _GNU_SOURCE
#include <link.h>

unsigned la_version(unsigned version) {
  return version;
}

unsigned la_objopen(struct link_map* map, Lmid_t list, uintptr_t* cookie) {
  (void)map, (void)list, (void)cookie;
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
// SPDX-License-Identifier: Apache-2.0
