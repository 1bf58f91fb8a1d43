// The lines that begin with "ERROR:".
#include "runtime/control/script_error.h"

#include <fmt/format.h>

namespace dj {
namespace {

constexpr uint64_t kShownEach = 5;

std::string what(const abi::ErrorPayload& payload, std::string_view text, bool host) {
  uint64_t a = static_cast<uint64_t>(payload.a);
  switch (payload.error) {
    case abi::kErrBadAddress:
      return fmt::format("read fault at address 0x{:016x}", a);
    case abi::kErrDivideByZero:
      return "division by 0";
    case abi::kErrMaxAction:
      return fmt::format(
          "{0} exceeded: more than {1} loop rounds and calls in one hit (raise it by -D {0}=N)",
          host ? "MAXACTION_HOST" : "MAXACTION", a);
    case abi::kErrNesting:
      return fmt::format(
          "MAXNESTING exceeded: more than {} calls deep (raise it by -D MAXNESTING=N)", a);
    case abi::kErrEmptyStat:
      return "the aggregate is empty";
    case abi::kErrUser:
      return std::string(text);
    case abi::kErrScratch:
      return fmt::format("foreach needs {} bytes of scratch memory; give it a limit", a);
    default:
      return fmt::format("script error {}", payload.error);
  }
}

// ' near "$p->next" at trace.djt:3:12'
std::string near(const ScriptErrorInput& input, uint32_t span_index) {
  if (span_index >= input.spans.size()) return "";
  Span span = input.spans[span_index];
  if (span.file >= input.sources.files.size()) return "";
  const Source& source = input.sources.files[span.file];
  LineCol at = source.line_col(span.begin);
  return fmt::format(" near \"{}\" at {}:{}:{}", input.sources.text(span), source.name, at.line,
                     at.column);
}

std::string probe(const Plan& plan, uint32_t site) {
  if (site < plan.sites.size()) return plan.sites[site].function;
  site -= static_cast<uint32_t>(plan.sites.size());
  return site < plan.host_probes.size() ? plan.host_probes[site].text : "?";
}

}  // namespace

void ScriptErrors::report(const abi::ErrorPayload& payload, uint32_t site, std::string_view text) {
  ++count_;
  Seen& seen = seen_[{payload.error, payload.span}];
  std::string error =
      what(payload, text, site >= input_.plan.sites.size()) + near(input_, payload.span);
  if (seen.times++ == 0) seen.text = error;
  if (seen.times > kShownEach) return;
  fmt::print(stderr, "ERROR: {}, in probe {}, pid {}, tid {}\n", error, probe(input_.plan, site),
             payload.pid, payload.tid);
}

void ScriptErrors::summarize() {
  for (auto& [key, seen] : seen_) {
    if (seen.times <= kShownEach) continue;
    fmt::print(stderr, "ERROR: {} more of this kind: {}\n", seen.times - kShownEach, seen.text);
    seen.times = kShownEach;
  }
}

}  // namespace dj
