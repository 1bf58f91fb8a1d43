// SPDX-License-Identifier: Apache-2.0
// add_probes() makes a Program grow while its session runs: handlers that run already know its
// globals, formats and probes by their numbers, so all of these stay, and what is new comes behind.
#pragma once
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/program.h"

namespace dj {

// ProgramSize: how much a Program has, to make it so again.
struct ProgramSize {
  size_t globals = 0, functions = 0, probes = 0, formats = 0, function_targets = 0;
};
ProgramSize size_of(const Program& program);
// Takes out what was added behind that.
void shrink(Program& program, const ProgramSize& size);

// How many probes the script itself has: those that djtap has added stand among them.
size_t script_probes(const Program& program);

// Adds to `running` what `next` has besides. next: what check() makes of the script and of what was
// added to it, in one; its probes begin with those of `running`. A global of both is known by its
// name and where it was declared. Reports to `diags` each global of both that handlers would have
// to keep in another way than they do; then `running` is as it was. Returns the number of the first
// new probe.
ProbeId add_probes(Program& running, Program next, Diags& diags);

// PointsTaken: a scope in which the probes before `first` have no points, so that resolve() finds
// what the others mean.
class PointsTaken {
 public:
  PointsTaken(Program& program, ProbeId first);
  PointsTaken(const PointsTaken&) = delete;
  PointsTaken& operator=(const PointsTaken&) = delete;
  ~PointsTaken();

 private:
  Program& program_;
  std::vector<std::vector<ast::ProbePoint>> points_;
};

}  // namespace dj
