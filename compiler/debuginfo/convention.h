// SPDX-License-Identifier: Apache-2.0
// By which convention a function is called: which document says where its arguments are. Only for
// this room.
#pragma once
#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

enum class Convention : uint8_t {
  SystemV,
  Windows,  // of 64 bits: the attribute ms_abi
  Unknown,  // another one (regcall, vectorcall, Swift's), or the compiler has changed it
};

// What DW_AT_calling_convention says. gcc never writes that: then what the function's parameters
// and saved registers show, else System V.
Convention convention_of(Dwarf_Die* function, DwarfIndex& index);

}  // namespace dj
