// SPDX-License-Identifier: Apache-2.0
// The passes of check, in order.
#include "compiler/check/check.h"

#include "compiler/check/bind.h"
#include "compiler/check/globals.h"
#include "compiler/check/infer.h"
#include "compiler/check/lint.h"
#include "compiler/check/storage.h"
#include "compiler/check/unbuilt.h"
#include "compiler/check/uses.h"

namespace dj {

Program check(const ast::Script& script, const CheckOptions& options, Diags& diags) {
  Program program;
  Notes notes;

  refuse_unbuilt(script, diags);
  if (!diags.ok()) return program;
  // From here on, every form is one that the passes know.

  Uses uses = find_uses(script);
  // From here on, it is known how each name is used over the whole script.

  declare_globals(script, uses, options, program, notes, diags);
  // From here on, no global is added and the shape of each is fixed.

  bind(script, program, notes, diags);
  // From here on, no name is looked up by its spelling.

  Infer(program, notes, diags).run(options.doubles);
  // From here on, everything has its type.

  if (!diags.ok()) return program;
  choose_storage(script, uses, program);
  lint(script, uses, program, diags);
  return program;
}

}  // namespace dj
