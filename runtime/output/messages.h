// SPDX-License-Identifier: Apache-2.0
// tell() writes a diagnostic to standard error, in the form that the command line asks for. It
// serves scripts, the way to the target and the session alike.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"

namespace dj {

struct TellForm {
  bool json = false, colour = false;
  bool no_warnings = false;  // report_all() leaves out warnings of scripts
};

// Call it before the other functions of this file.
void set_tell_form(TellForm form);

// Writes one diagnostic.
void tell(const Diag& diag, const Sources& sources);
// Tells all diagnostics of a script; no warnings if the form leaves them out. A point with a
// wildcard makes many probes of one text: what is wrong with each of them is told once.
void report_all(const Diags& diags, const Sources& sources);
// Tell a diagnostic that has no place in a script.
void report_error(const std::string& code, const std::string& message);
void report_warning(const std::string& code, const std::string& message);

// Returns the diagnostic code for an error of this kind on the way to the target.
std::string attach_code(Fail kind);

// Warns that the session goes on without what `message` names.
inline void report_undone(const std::string& message) { report_warning("DJ5903", message); }

}  // namespace dj
