// SPDX-License-Identifier: Apache-2.0
// lead_opener() leads a process that opens a library to where djtap can probe it.
#pragma once
#include <optional>

#include "compiler/base/result.h"
#include "runtime/process/exec_gate.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// tid: of an ExecGate::Visitor that opens a library. Lets it pass. Returns its process: a program
// that has not begun stands at its start, of one that runs the thread stands in the loader. Empty:
// the thread reads the file and is no loader, or has ended; it goes on. trusted: djtap may have
// more rights than the process. Fails as TracedProcess::open() and check_rights() do.
Result<std::optional<TracedProcess>> lead_opener(ExecGate& gate, int tid, bool trusted);
// Leads a thread that has executed a program to its start, past the libraries that the gate
// watches: djtap waits for the loader, so that must not wait for djtap. gate: may be null.
Result<Launched> lead_to_start(ExecGate* gate, ExecTracee& thread);

}  // namespace dj
