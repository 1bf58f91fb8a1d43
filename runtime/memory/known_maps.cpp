// SPDX-License-Identifier: Apache-2.0
// Keeps the list; it is sorted where it is used.
#include "runtime/memory/known_maps.h"

#include <utility>

namespace dj {

Status KnownMaps::read(const Stopped& stopped) {
  DJ_TRY(maps_, stopped.maps());
  read_ = maps_.size();
  return ok_status();
}

void KnownMaps::add(const AddressRange& range) {
  Mapping made;
  made.begin = range.begin;
  made.end = range.end;
  maps_.push_back(std::move(made));
}

}  // namespace dj
