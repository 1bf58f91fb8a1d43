// SPDX-License-Identifier: Apache-2.0
// Options holds the command line, parsed and checked. Only main.cpp and this room name the whole;
// the functions that they call take single concerns (choices.h).
#pragma once
#include <optional>

#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"
#include "runtime/command/exit_code.h"

namespace dj {

struct Options {
  CommandLine line;  // for diagnostics that point into it
  ScriptChoices script;
  TargetChoices target;
  PatchingChoices patching;
  FileChoices files;
  ReportChoices report;
  MessageChoices messages;
  StageChoices stages;
  SessionChoices session;
  StressChoices stress;
  ListChoices list;
  ActionChoices action;
};

// Parses argv. On a usage error or --help prints the message, sets `exit_code` and returns no
// options.
std::optional<Options> parse_options(int argc, char** argv, int& exit_code);

}  // namespace dj
