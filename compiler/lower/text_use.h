// SPDX-License-Identifier: Apache-2.0
// Text use: whether the texts that a statement makes in the handler's scratch memory are done with
// when the statement is. A loop may run it thousands of times.
#pragma once
#include "compiler/stages/program.h"

namespace dj::ir {

// True for a statement that makes texts, and of which none is read behind it: no variable of the
// handler holds one, and neither does what `matched`, or another call of the same built-in, reads
// later.
bool ends_its_texts(const Stmt& stmt);

}  // namespace dj::ir
