// SPDX-License-Identifier: Apache-2.0
// Untyped functions: labels of assembly without .type that are functions. A table of symbols does
// not tell them from places inside of functions, nor from data that lie in the text.
#pragma once
#include <vector>

#include "compiler/debuginfo/symbols.h"

namespace dj {

// Whether assembly could call its function so. False: what tools call places and data in the text
// (".L1", ".annobin_f.c", "$d").
bool may_name_function(std::string_view label);

// Appends to `functions` those of `labels` that are functions. All labels lie in code of `elf`.
// A label inside of a sized function is none. Any other is one if an entry of .eh_frame begins
// there, if a direct call leads there, or if the program begins there. For a global label a jump
// is enough, or code from there to a return or jump, if no instruction reads the bytes as data.
void add_untyped(const ObjectFile& elf, const std::vector<Symbol>& labels,
                 std::vector<Symbol>& functions);

}  // namespace dj
