// SPDX-License-Identifier: Apache-2.0
// Call sites: the calls in a module's code that debug info describes, by the function they call.
// Only for this room.
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace dj {

struct CallSite {
  Dwarf_Die die;           // DW_TAG_call_site: says what is passed
  Dwarf_Die caller;        // the function whose code has it
  uint64_t return_pc = 0;  // where the called function returns to; a DWARF address
};

class CallSites {
 public:
  // Walks the units' functions, which must stay; takes a second for debug info of 200 MB.
  explicit CallSites(const std::vector<Dwarf_Die>& units);

  // Calls of the function by its name or its place in the source. Calls by pointers are unknown.
  const std::vector<CallSite>& of(Dwarf_Die* function) const;
  // A call of the function may end in a tail call of itself: what it was called with first is not
  // what it has been called with last.
  bool calls_itself_last(Dwarf_Die* function) const;

 private:
  void walk(Dwarf_Die* parent, Dwarf_Die* caller);
  void add(Dwarf_Die* site, Dwarf_Die* caller);

  std::unordered_map<std::string, std::vector<CallSite>> calls_;          // by the callee
  std::unordered_map<std::string, std::vector<std::string>> tail_calls_;  // by the caller
};

}  // namespace dj
