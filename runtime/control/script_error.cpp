// The lines that begin with "ERROR:".
#include "runtime/control/script_error.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "compiler/counted.h"
#include "compiler/shown_symbol.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/error_text.h"
#include "runtime/shared/format.h"

namespace dj {
namespace {

constexpr uint64_t kShownEach = 5;

// How to raise the limit that was exceeded.
std::string remedy(uint32_t error, bool host) {
  if (error == abi::kErrMaxAction)
    return fmt::format(" (raise it by -D {}=N)", host ? "MAXACTION_HOST" : "MAXACTION");
  return error == abi::kErrNesting ? " (raise it by -D MAXNESTING=N)" : "";
}

// Why a handler of djtap itself found nothing at all to read, if it is that.
std::string whose_memory(const ScriptErrorInput& input, uint64_t address) {
  const uint64_t target = reinterpret_cast<const abi::Header*>(input.arena)->target_pid;
  if (target == 0) return " (no process is traced)";
  char byte = 0;
  const iovec local{&byte, 1}, remote{reinterpret_cast<void*>(address), 1};
  const ssize_t done = process_vm_readv(static_cast<pid_t>(target), &local, 1, &remote, 1, 0);
  return done < 0 && errno == ESRCH ? " (the program has ended)" : "";
}

std::string what(const ScriptErrorInput& input, const abi::ErrorPayload& payload,
                 std::string_view text, bool host) {
  if (payload.error == abi::kErrUser) return std::string(text);
  std::string_view format = abi::error_format(payload.error);
  abi::FormatArg value{static_cast<uint64_t>(payload.a)};
  char words[abi::kMaxErrorText];
  uint64_t length = abi::format_text(words, sizeof words, format.data(),
                                     static_cast<uint32_t>(format.size()), &value, 1);
  std::string said(words, std::min<uint64_t>(length, sizeof words));
  constexpr std::string_view kLimit = "MAXACTION";  // its name is another one in djtap itself
  if (host && said.starts_with(kLimit)) said.insert(kLimit.size(), "_HOST");
  if (host && payload.error == abi::kErrBadAddress)
    said += whose_memory(input, static_cast<uint64_t>(payload.a));
  return said + remedy(payload.error, host);
}

// A place of the script with `format` of its words, file, line and column; "" where it is not
// known.
std::string placed(const ScriptErrorInput& input, uint32_t span_index, const char* format) {
  if (span_index >= input.spans.size()) return "";
  Span span = input.spans[span_index];
  if (span.file >= input.sources.files.size()) return "";
  const Source& source = input.sources.files[span.file];
  LineCol at = source.line_col(span.begin);
  return fmt::format(fmt::runtime(format), input.sources.text(span), source.name, at.line,
                     at.column);
}

// ' near "$p->next" at trace.djt:3:12'
std::string near(const ScriptErrorInput& input, uint32_t span_index) {
  return placed(input, span_index, " near \"{}\" at {}:{}:{}");
}

// One line for each call that the error is inside of, innermost first.
std::string call_chain(const ScriptErrorInput& input, const abi::ErrorPayload& payload) {
  std::string text;
  uint32_t shown = std::min(payload.call_count, abi::kMaxShownCalls);
  for (uint32_t i = 0; i < shown; ++i)
    text += placed(input, payload.calls[i], "  in {}, called at {}:{}:{}\n");
  if (payload.call_count > shown)
    text += fmt::format("  .. {}\n", counted(payload.call_count - shown, "more call"));
  return text;
}

std::string probe(const Plan& plan, uint32_t site) {
  if (const Site* found = site_numbered(plan, site))
    return found->function.empty() ? shown_symbol(found->symbol) : found->function;
  site -= static_cast<uint32_t>(plan.sites.size());
  return site < plan.host_probes.size() ? plan.host_probes[site].text : "?";
}

}  // namespace

void ScriptErrors::report(const abi::ErrorPayload& payload, uint32_t site, std::string_view text) {
  ++count_;
  Seen& seen = seen_[{payload.error, payload.span}];
  std::string error = what(input_, payload, text, site_numbered(input_.plan, site) == nullptr) +
                      near(input_, payload.span);
  if (seen.times++ == 0) seen.text = error;
  if (seen.times > kShownEach) return;
  fmt::print(stderr, "ERROR: {}, in probe {}, pid {}, tid {}\n{}", error, probe(input_.plan, site),
             payload.pid, payload.tid, call_chain(input_, payload));
}

void ScriptErrors::summarize() {
  for (auto& [key, seen] : seen_) {
    if (seen.times <= kShownEach) continue;
    fmt::print(stderr, "ERROR: {} more of this kind: {}\n", seen.times - kShownEach, seen.text);
    seen.times = kShownEach;
  }
}

}  // namespace dj
