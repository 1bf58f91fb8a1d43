// SPDX-License-Identifier: Apache-2.0
// Rows of their own for the target's threads to count in (runtime/shared/thread_rows.h), where
// nobody else uses the gs base.
#pragma once
#include "compiler/base/result.h"
#include "compiler/stages/layout.h"
#include "runtime/process/stopped.h"
#include "runtime/shared/abi.h"

namespace dj {

// Whether programs may set their gs base here (FSGSBASE).
bool has_fsgsbase();
// Nobody of these threads has a gs base, and programs may set it (FSGSBASE).
Result<bool> may_have_rows(const Stopped& stopped);
// Gives each thread a row. The arena is formatted; the system calls that start threads are hooked
// before any of them runs again, so that new threads get theirs.
Status give_rows(const Stopped& stopped, const Layout& layout);
// Takes gs bases away that can only be rows: this session's, or those of one that was killed.
Status take_rows(const Stopped& stopped);

}  // namespace dj
