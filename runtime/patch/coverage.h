// SPDX-License-Identifier: Apache-2.0
// Coverage: how many functions of one file could be probed by a jump, and why not the others.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "runtime/patch/module_code.h"

namespace dj {

// The table that `--stress --coverage FILE` prints: verdicts of all function entries, and of all
// exits of functions whose exits are known. Entries and exits are checked apart. No process.
Result<std::string> coverage_table(const std::string& path, const ReadText& read_text);

}  // namespace dj
