// SPDX-License-Identifier: Apache-2.0
// The folder in which a unit's compiler ran: what its paths are relative to. Only for this room.
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <string>

namespace dj {

// "": not known.
inline std::string unit_folder(Dwarf_Die unit) {
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  return folder != nullptr ? folder : "";
}

}  // namespace dj
