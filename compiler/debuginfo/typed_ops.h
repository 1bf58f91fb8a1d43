// SPDX-License-Identifier: Apache-2.0
// Operations of DWARF expressions on values of types, and on what callers know. Only for this room.
#pragma once
#include "compiler/debuginfo/dwarf_ops.h"
#include "compiler/debuginfo/jumps.h"
#include "compiler/debuginfo/typed_stack.h"

namespace dj {

// DW_OP_convert, reinterpret, deref_type, const_type and regval_type. False: another operation.
Result<bool> typed_operation(const Dwarf_Op& op, const OpContext& context, TypedStack& stack);

// DW_OP_entry_value: what a register held at the function's entry: known there; later to the
// caller, perhaps.
Status entry_value(const Dwarf_Op& op, const OpContext& context, Jumps& jumps, TypedStack& stack);

// DW_OP_GNU_parameter_ref: what callers give for a parameter that this copy of the function does
// not get any more.
Status parameter_ref(const Dwarf_Op& op, const OpContext& context, Jumps& jumps, TypedStack& stack);

}  // namespace dj
