// SPDX-License-Identifier: Apache-2.0
// Which versions of their names exported symbols are (.gnu.version, .gnu.version_d): f@V1, f@@V2.
#pragma once
#include <string_view>
#include <vector>

#include "compiler/debuginfo/object_file.h"

namespace dj {

struct VersionedSymbol {
  uint64_t address = 0;
  std::string_view name, version;
  bool is_default = false;  // new programs are linked to it: f@@V2
  // Whether the text behind a name's first '@' means it: "V2", or "@V2" for the default version.
  bool is_meant_by(std::string_view text) const;
};

// The symbols of .dynsym that the file defines in a version, by address.
std::vector<VersionedSymbol> versioned_symbols(const ObjectFile& elf);

}  // namespace dj
