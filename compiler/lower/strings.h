// Strings as handlers have them: the address of a Str. What goes into a global or a key is interned
// before; 0 is what a global holds that was never written, and reads as "".
#pragma once
#include <string>

#include "compiler/lower/code.h"
#include "compiler/stages/ast.h"

namespace dj::ir {

// text: one of Layout::constant_texts.
Value literal(Code& code, const std::string& text);
Value intern(Code& code, Value string);
// An interned Str or 0, as a Str.
Value or_empty(Code& code, llvm::Value* word);
// Takes scratch memory of the context.
Value concat(Code& code, Value left, Value right);
// As i1.
llvm::Value* compare_strings(Code& code, ast::BinOp op, Value left, Value right);

}  // namespace dj::ir
