// SPDX-License-Identifier: Apache-2.0
// program_files() gives the files that a script names by process("file"), library_files() those
// that it names as libraries of any process.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/program.h"

namespace dj {

enum class Named : uint8_t {
  Any,
  Exactly,  // without wildcards
};

// Returns their real paths, each once. A name without a folder is looked for here and in $PATH. A
// name that means no file gives none.
std::vector<std::string> program_files(const Program& program, Named named = Named::Any);

// Returns the names with wildcards by which a script names files so, as they are written.
std::vector<std::string> program_patterns(const Program& program);

// Returns those of `mapped` (paths) that library_names() mean.
std::vector<std::string> library_files(const Program& program,
                                       const std::vector<std::string>& mapped);

// Returns the names of libraries, also of process("file").library("library"), that none of `mapped`
// has, as they are written, but for points that may be missing.
std::vector<std::string> missing_libraries(const Program& program,
                                           const std::vector<std::string>& mapped);

// Returns those of `errors`, which resolve() has found for a process of the program at `path`, that
// are about process("program").library("library") of a library that is mapped there: what else is
// wrong for that process was wrong for the first one, or means another program.
std::vector<Diag> errors_in_libraries(const Program& program, const std::string& path,
                                      const Diags& errors);

// Returns the names of libraries whose processes a script means: of func("library!name") and
// process.library("library"), as they are written.
std::vector<std::string> library_names(const Program& program);

// Whether a script means all processes there are: by process.syscall, or by process.begin,
// process.end and process.thread where it names no process, program or library, and goes on when it
// has begun (oneshot ends it).
bool means_every_process(const Program& program);

}  // namespace dj
