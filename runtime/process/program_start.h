// SPDX-License-Identifier: Apache-2.0
// run_to_start() leads a program from its exec to the first moment at which djtap can arm probes.
#pragma once
#include <sys/ptrace.h>

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/base/result.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/scout.h"
#include "runtime/process/tracee.h"

namespace dj {

// What a tracee must be seized with, or have got by PTRACE_SETOPTIONS, before run_to_start().
constexpr uint64_t kStartOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;

// Reads the headers of the program that a process has executed, as it is now. Fails like
// read_elf().
Result<ElfFile> executed_program(pid_t pid);

// ProgramStart: where run_to_start() has led a program.
struct ProgramStart {
  std::optional<Scout> scout;
  // It stands at the call by which its loader says that its objects are there.
  bool at_loader_call = false;
  bool at_signal = false;  // as Stopped::adopt() has it
};

// The tracee is in the stop of PTRACE_EVENT_EXEC, or, if is_loading, in a stop of its loader, which
// has begun and not ended to map objects; `program` is what it has executed. Afterwards it
// is in a ptrace-stop at one of the places that launch.h names, its code as its files have it. A
// scout is sent ahead of a Started tracee alone: it would be a child of a Followed one's parent.
// Where it fails, a Followed tracee that still lives is in a stop and has its own code again; if it
// has not stopped within two seconds (Tracee::stands), its loader keeps a call that does nothing.
Result<ProgramStart> run_to_start(Tracee& tracee, const ElfFile& program, bool is_loading = false);

}  // namespace dj
