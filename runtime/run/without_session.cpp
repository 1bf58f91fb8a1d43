// SPDX-License-Identifier: Apache-2.0
// Each prints what the room below answers.
#include "runtime/run/without_session.h"

#include "compiler/debuginfo/text.h"
#include "runtime/clean/clean.h"
#include "runtime/patch/coverage.h"
#include "runtime/run/show.h"

namespace dj {

int clean_left_behind(int pid) { return print_result(clean_command(pid), fail_attach); }

int show_coverage(const std::string& path) {
  return print_result(coverage_table(path, read_text), [](const Error& error) {
    return fail(kExitScript, "DJ3005", error.message);
  });
}

}  // namespace dj
