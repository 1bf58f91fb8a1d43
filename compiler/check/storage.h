// SPDX-License-Identifier: Apache-2.0
// Storage: how each global is kept, and whether it is shown at exit, decided by how the script uses
// it.
#pragma once
#include "compiler/check/notes.h"
#include "compiler/check/uses.h"
#include "compiler/stages/program.h"

namespace dj {

// Fills storage, grows, sums, ever_read and ever_written of all globals.
void choose_storage(const ast::Script& script, const Uses& uses, Program& program);

}  // namespace dj
