// SPDX-License-Identifier: Apache-2.0
// set_processes() finds the processes that -p means, set_cleaned() those that `djtap clean` means.
//
// A text of the command line holds words apart by spaces, commas or line feeds. A word is the
// number of a process, or a name that means all processes of that name that djtap may trace.
#pragma once
#include <string>
#include <vector>

#include "runtime/command/options.h"

namespace dj {

// Sets the processes of -p. Reports each word that means none, and throws the last one as a
// UsageError. Of a number that stands alone it does not look whether there is such a process.
void set_processes(Options& options, const std::vector<std::string>& texts);

// Sets the processes of `djtap clean`: those of `texts`, which stand behind it, and those of -p.
// Reports and throws as set_processes() does, but does not look whether a number has a process.
void set_cleaned(Options& options, const std::vector<std::string>& texts);

// Throws where -p means several processes, and what is asked for is of one process.
void check_one_process(const Options& options);

}  // namespace dj
