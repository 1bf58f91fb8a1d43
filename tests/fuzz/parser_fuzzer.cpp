// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way into lexer and parser: whatever the bytes are, a script or not, nothing crashes,
// every diagnostic can be shown, and what is accepted prints as a script that reads as the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/parse/parse.h"
#include "compiler/parse/tidy.h"
#include "compiler/stages/print_ast.h"

namespace {

// The script as the printer writes it; "" when it is wrong.
std::string canonical(const std::string& text) {
  dj::Sources sources;
  const uint32_t file = sources.add("fuzz", text);
  dj::Diags diags;
  dj::ParseOptions options;
  options.args = {"7"};
  const dj::ast::Script script = dj::parse(sources, file, options, diags);
  for (const dj::Diag& diag : diags.all()) dj::render(diag, sources, false);
  return diags.ok() ? dj::print(script) : "";
}

std::string tidied(const std::string& text) {
  dj::Sources sources;
  const uint32_t file = sources.add("fuzz", text);
  dj::Diags diags;
  return dj::tidy(sources, file, diags);
}

void must_be_equal(const char* what, const std::string& text, const std::string& once,
                   const std::string& again) {
  if (once == again) return;
  std::fprintf(stderr, "%s reads as another script\n--- script\n%s\n--- once\n%s\n--- again\n%s\n",
               what, text.c_str(), once.c_str(), again.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string once = canonical(text);
  const std::string tidy = tidied(text);
  if (once.empty()) return 0;
  must_be_equal("what the printer writes", text, once, canonical(once));
  must_be_equal("the tidy form", text, once, canonical(tidy));
  return 0;
}
