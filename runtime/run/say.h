// What a command says to people, and the exit code it ends with.
#pragma once
#include <string>

#include "compiler/diag.h"
#include "compiler/result.h"
#include "compiler/source.h"
#include "runtime/control/options.h"

namespace dj {

// The exit code of a failure of djtap's own: `own`, or kExitOwnFailure where the command's exit
// codes are handed through (-c).
int exit_code_for(const Options& options, int own);

// Says `message` on stderr. Returns exit_code_for(own).
int fail(const Options& options, int own, const std::string& message);

// The end of a command that only has something to show.
int print_result(const Options& options, int own_code, const Result<std::string>& text);

// Renders all of them to stderr, as text or with --json-diagnostics as JSON.
void print_diags(const Diags& diags, const Sources& sources, const Options& options);

}  // namespace dj
