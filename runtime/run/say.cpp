// Failures, results and diagnostics as text.
#include "runtime/run/say.h"

#include <fmt/format.h>
#include <unistd.h>

namespace dj {

int exit_code_for(const Options& options, int own) {
  return options.command.empty() ? own : kExitOwnFailure;
}

int fail(const Options& options, int own, const std::string& message) {
  fmt::print(stderr, "djtap: {}\n", message);
  return exit_code_for(options, own);
}

int print_result(const Options& options, int own_code, const Result<std::string>& text) {
  if (!text.ok()) return fail(options, own_code, text.error().message);
  fmt::print("{}", text.value());
  return kExitOk;
}

void print_diags(const Diags& diags, const Sources& sources, const Options& options) {
  bool colour = isatty(STDERR_FILENO);
  for (const Diag& diag : diags.all()) {
    std::string text =
        options.json_diagnostics ? render_json(diag, sources) : render(diag, sources, colour);
    fmt::print(stderr, "{}", text);
  }
}

}  // namespace dj
