// SPDX-License-Identifier: Apache-2.0
// program_files() gives the files that a script names by process("file"), library_files() those
// that it names as libraries.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

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

// Returns those of `mapped` (paths) that func("library!name") and process.library("library") mean.
std::vector<std::string> library_files(const Program& program,
                                       const std::vector<std::string>& mapped);

// Returns the names of those of which `mapped` has none, as they are written, but for points that
// may be missing.
std::vector<std::string> missing_libraries(const Program& program,
                                           const std::vector<std::string>& mapped);

// The names that such points have, as they are written.
std::vector<std::string> library_names(const Program& program);

}  // namespace dj
