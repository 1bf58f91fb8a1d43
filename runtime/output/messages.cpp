// SPDX-License-Identifier: Apache-2.0
// One place that writes diagnostics.
#include "runtime/output/messages.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

namespace dj {
namespace {

TellForm chosen;

void report_placeless(Severity severity, const std::string& code, const std::string& message) {
  Diag diag;
  diag.severity = severity;
  diag.code = code;
  diag.no_span = true;
  diag.message = message;
  tell(diag, {});
}

}  // namespace

void set_tell_form(TellForm form) { chosen = form; }

void tell(const Diag& diag, const Sources& sources) {
  const std::string text =
      chosen.json ? render_json(diag, sources) : render(diag, sources, chosen.colour);
  fwrite(text.data(), 1, text.size(), stderr);  // fmt::print() throws where stderr is full
}

void report_all(const Diags& diags, const Sources& sources) {
  std::set<std::tuple<std::string, uint32_t, uint32_t, uint32_t, std::string>> told;
  for (const Diag& diag : diags.all()) {
    const auto& [file, begin, end, via] = diag.span;
    if (!told.emplace(diag.code, file, begin, end, diag.message).second) continue;
    if (!chosen.no_warnings || diag.severity != Severity::Warning) tell(diag, sources);
  }
}

void report_error(const std::string& code, const std::string& message) {
  report_placeless(Severity::Error, code, message);
}

void report_warning(const std::string& code, const std::string& message) {
  report_placeless(Severity::Warning, code, message);
}

std::string attach_code(Fail kind) {
  switch (kind) {
    case Fail::NotFound:
      return "DJ4001";
    case Fail::Permission:
      return "DJ4002";
    case Fail::TargetGone:
      return "DJ4003";
    case Fail::Unsupported:
      return "DJ4004";
    default:
      return "DJ4005";
  }
}

}  // namespace dj
