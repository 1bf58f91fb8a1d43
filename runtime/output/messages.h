// SPDX-License-Identifier: Apache-2.0
// tell(): diagnostics on standard error, in the form that the command line asks for. Of scripts, of
// the way to the target and of the session alike.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"

namespace dj {

struct TellForm {
  bool json = false, colour = false;
  bool no_warnings = false;  // of scripts: report_all()
};

// To be called first.
void set_tell_form(TellForm form);

void tell(const Diag& diag, const Sources& sources);
// Tells each of what the stages say of a script; no warnings where the form leaves them out.
void report_all(const Diags& diags, const Sources& sources);
// What has no place in a script.
void report_error(const std::string& code, const std::string& message);
void report_warning(const std::string& code, const std::string& message);

// The code of what stands between djtap and the target.
std::string attach_code(Fail kind);

// The session goes on, without what `message` names.
inline void report_undone(const std::string& message) { report_warning("DJ5903", message); }

}  // namespace dj
