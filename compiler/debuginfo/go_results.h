// SPDX-License-Identifier: Apache-2.0
// Results of Go's functions: debug information lists them among the parameters, and does not say
// where they are behind the last instruction. Only for this room.
#pragma once
#include <vector>

#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

// The results of the function in their order: those of its DW_TAG_formal_parameter children, or its
// abstract origin's, that Go's compiler marks (DW_AT_variable_parameter). Results without a name of
// the source's are "~r0", "~r1" .... Empty: there are none, or the function is not of Go's
// compiler.
std::vector<Dwarf_Die> go_results(Dwarf_Die* function);
// Whether a parameter is such a result.
bool is_go_result(Dwarf_Die* parameter);

// Where one of them is behind the last instruction, by Go's convention: ABIInternal of Go 1.17 and
// later hands out registers to the parts of a value, and gives a value that does not fit, as all
// values of earlier versions and of assembly functions (ABI0), a place above the arguments.
Result<ValueLocation> go_result_at_exit(Dwarf_Die* function, const Dwarf_Die& result,
                                        DwarfIndex& index);

}  // namespace dj
