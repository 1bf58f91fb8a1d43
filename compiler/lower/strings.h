// SPDX-License-Identifier: Apache-2.0
// Strings as handlers have them in registers: the address of a Str. In globals, keys and elements
// of arrays they stand as StrWords (runtime/shared/strings.h), whose Strs are interned: from_ref()
// and to_ref() are the only ways between the two.
#pragma once
#include <string>

#include "compiler/lower/code.h"
#include "compiler/stages/ast.h"

namespace dj::ir {

// text: one of Layout::strings.texts.
Value literal(Code& code, const std::string& text);
Value intern(Code& code, Value string);
// What the StrWord refers to, as abi::str_at() says it; whatever the word is, that lies in the
// arena.
Value from_ref(Code& code, llvm::Value* word);
// The StrWord of the interned Str of this text.
llvm::Value* to_ref(Code& code, Value string);
// The address of an interned Str, or 0 for "".
Value or_empty(Code& code, llvm::Value* address);
// Takes scratch memory of the context.
Value concat(Code& code, Value left, Value right);
// As i1.
llvm::Value* compare_strings(Code& code, ast::BinOp op, Value left, Value right);

}  // namespace dj::ir
