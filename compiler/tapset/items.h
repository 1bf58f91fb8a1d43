// SPDX-License-Identifier: Apache-2.0
// The top-level items of a tapset file, told apart without the grammar: of a file with a hundred
// probes, only the ones that a script needs are parsed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/parse/parse.h"

namespace dj {

struct TapsetItem {
  TextPart part;
  std::string function;              // empty: it is none
  bool is_private = false;           // a private function
  std::vector<std::string> aliases;  // dotted names, "syscall.open"; empty: it defines none
  // Globals, and probes that are no aliases, serve what else the file has; an item without a name
  // that is understood may be anything.
  bool is_for_all() const { return function.empty() && aliases.empty(); }
};

// They cover the whole text but the comments in front of the first one, and embedded C between
// items (it begins a line), which is nobody's. One item for all where the text cannot be cut: it
// has conditionals, macros, or brackets and quotes that do not match.
std::vector<TapsetItem> items_of(std::string_view text);

}  // namespace dj
