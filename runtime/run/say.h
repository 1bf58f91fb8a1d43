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

// To be called first: opens /dev/null for those of stdin, stdout and stderr that djtap was started
// without, or the next file it opens is written to as stderr. The target gets none of them.
void fill_standard_descriptors();

// Writes `text` to stdout. Takes notice of a failure only in end_of_output().
void show(const std::string& text);

// To be called last. Returns the exit code; if stdout did not take all and `exit_code` is that of
// success, says so and returns that of a failure.
int end_of_output(const Options& options, int exit_code);

// From here on nobody who stops reading ends djtap: it has probes to take out of the target.
// SIGPIPE is ignored, and what stderr does not take is lost (fmt::print() throws for a stream that
// fails; glibc's stderr is a variable that may be set).
void outlive_readers();

// Renders all of them to stderr, as text or with --json-diagnostics as JSON.
void print_diags(const Diags& diags, const Sources& sources, const Options& options);

}  // namespace dj
