// SPDX-License-Identifier: Apache-2.0
// program_files() gives the files that a script names by process("file").
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

}  // namespace dj
