// SPDX-License-Identifier: Apache-2.0
// unused.h takes out of alias bodies the values that a probe does not use, so that they are not
// computed.
#pragma once
#include <set>
#include <string>

#include "compiler/stages/ast.h"

namespace dj {

class UnusedValues {
 public:
  // Learns the globals and functions of the script.
  explicit UnusedValues(const ast::Script& script);

  // Takes `local = expression` out of the statements of `body` but the one numbered `own` (the
  // probe's), where nothing in `body` reads the local and the expression changes nothing.
  void drop(ast::Block& body, size_t own) const;

 private:
  struct Changes;
  bool changes_something(const ast::Expr& expr) const;

  std::set<std::string> globals_, functions_;
  std::set<std::string> busy_;  // functions of the script that change or print something
};

}  // namespace dj
