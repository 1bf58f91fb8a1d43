// SPDX-License-Identifier: Apache-2.0
// Elements of arrays, as agent entries (dj_map_*, dj_slice_*) want them named: the map, a row of
// keys, and of a slice which of them are given.
#pragma once
#include "compiler/lower/body.h"

namespace dj::ir {

// The array's abi::Map.
llvm::Constant* map(Code& code, GlobalId array);
// Evaluates the keys into a row: strings as StrWords, the word of a '*' 0.
llvm::Value* keys(Body& body, const std::vector<ExprPtr>& keys);
// Bit i: key i is given. Of a slice some are not.
llvm::Value* given_keys(Code& code, const std::vector<ExprPtr>& keys);
// StatRows: where an aggregate lies, as the agent's entries want it. rows is null where an element
// is absent.
struct StatRows {
  llvm::Value *rows, *stride, *shape;
};
// Evaluates the keys of an element.
StatRows stat_rows(Body& body, const Expr& place);
// a[keys] op= operand, at once; returns the word before, or after.
llvm::Value* update_element(Code& code, GlobalId array, llvm::Value* keys, ast::BinOp op,
                            llvm::Value* operand, bool want_old);

}  // namespace dj::ir
