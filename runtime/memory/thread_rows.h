// SPDX-License-Identifier: Apache-2.0
// give_rows() gives the target's threads rows of their own to count in
// (runtime/shared/thread_rows.h). A thread finds its row by its gs base, so the program itself must
// not use that.
#pragma once
#include "compiler/base/result.h"
#include "compiler/stages/layout.h"
#include "runtime/process/stopped.h"
#include "runtime/shared/abi.h"

namespace dj {

// Whether programs may set their gs base on this machine (FSGSBASE).
bool has_fsgsbase();
// Whether none of these threads has a gs base, and programs may set it (FSGSBASE).
Result<bool> may_have_rows(const Stopped& stopped);
// Gives each thread a row, as far as there are free ones: threads of other processes may take some
// at the same time. The arena is formatted; constants: address of djtap's view of the process's
// constants. The system calls that start threads must be hooked before any of these threads runs
// again, so that new threads get rows, too.
Status give_rows(const Stopped& stopped, const Layout& layout, uint64_t constants);
// Takes away gs bases that can only be rows: those of this session, or of one whose djtap was
// killed.
Status take_rows(const Stopped& stopped);

}  // namespace dj
