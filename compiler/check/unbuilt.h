// The forms that the grammar has and the later passes of check do not know yet.
#pragma once
#include "compiler/ast.h"
#include "compiler/diag.h"

namespace dj {

// Reports each of them at its place. The passes behind it may rely on their absence when the
// diagnostics are ok.
void refuse_unbuilt(const ast::Script& script, Diags& diags);

}  // namespace dj
