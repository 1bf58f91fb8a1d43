// SPDX-License-Identifier: Apache-2.0
// Prints a Script as script text: canonical, so that parsing it again gives the same Script.
#pragma once
#include <string>
#include <string_view>

#include "compiler/stages/ast.h"

namespace dj {

std::string print(const ast::Script& script);
std::string print(const ast::Expr& expr);
std::string print(const ast::ProbePoint& point);
// Keys of an element or a slice, "1, *".
std::string print_keys(const std::vector<ast::ExprPtr>& keys);
// A string literal that means exactly `text`, quotes included.
std::string quote(std::string_view text);
// "==", "." and so on.
const char* spelling(ast::BinOp op);

}  // namespace dj
