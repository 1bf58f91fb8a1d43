// SPDX-License-Identifier: Apache-2.0
// What helps where an object's debug information is missing, or is there and cannot be read.
#pragma once
#include <string>

#include "compiler/diag/diag.h"

namespace dj {

// unreadable: as Module::why_unreadable() says it.
inline void help_to_debug_info(Diag& diag, const std::string& unreadable = "") {
  diag.help = "compile with -g, or install the package with its debug symbols";
  if (unreadable.empty()) return;
  diag.notes.push_back(unreadable);
  diag.help =
      "pack them with zlib (gcc -gz=zlib), unpack them (objcopy --decompress-debug-sections), or "
      "give djtap an elfutils of 0.189 or later";
}

}  // namespace dj
