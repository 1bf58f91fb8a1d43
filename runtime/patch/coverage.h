// SPDX-License-Identifier: Apache-2.0
// coverage_table() tells how many functions of one file a jump could probe, and why it cannot probe
// the others.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "runtime/patch/module_code.h"

namespace dj {

// Returns the table that `--stress --coverage FILE` prints: the verdicts on all function entries,
// and on all exits of functions whose exits are known. The checks judge entries and exits apart. It
// needs no process. name: what the table calls the file.
Result<std::string> coverage_table(const std::string& path, const std::string& name,
                                   const ReadText& read_text);

}  // namespace dj
