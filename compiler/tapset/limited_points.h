// SPDX-License-Identifier: Apache-2.0
// Points with a number that some hits of their places do not have: process(PID), whose places other
// traced processes and forked ones have, too; process.syscall(N), as some `syscall` instructions
// make calls of any number.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "compiler/stages/ast.h"

namespace dj {

// Returns the numbers of the points that name a process so, each once, in the script's order.
// Empty: there is none, or the script has other points of processes, too. Expand its aliases
// before.
std::vector<int64_t> processes_named_alone(const ast::Script& script);

// Both rewrite the probes of a script whose aliases are expanded. The points of one number move
// into a probe of their own, which stands behind the one that they were in. Its body begins with a
// test: at a hit of another number the probe does nothing.

// Rewrites the points that name a process by a number of `own`; each becomes `process` alone. The
// test asks whether pid() is own.at(number). Points with other numbers stay as they are.
void limit_to_processes(ast::Script& script, const std::map<int64_t, int64_t>& own);

// Rewrites the points with syscall(N), which keep it: places whose calls always have another number
// are left out (compiler/resolve/probe_syscall.cpp). The test asks for $syscall.
void limit_to_system_calls(ast::Script& script);

}  // namespace dj
