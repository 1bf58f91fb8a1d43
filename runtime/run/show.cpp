// SPDX-License-Identifier: Apache-2.0
// Failures, results and diagnostics as text.
#include "runtime/run/show.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "compiler/base/printable.h"
#include "runtime/output/messages.h"
#include "runtime/output/terminal.h"
#include "runtime/output/write_whole.h"
#include "runtime/process/child_wait.h"

namespace dj {
namespace {

// What cannot be written is lost; nobody is told, there is nobody.
ssize_t write_or_lose(void*, const char* text, size_t size) {
  write_whole(STDERR_FILENO, {text, size});
  return static_cast<ssize_t>(size);
}

}  // namespace

void report_as(const MessageChoices& messages) {
  set_tell_form(
      {messages.json, messages.colour.value_or(is_coloured(STDERR_FILENO)), messages.no_warnings});
}

void warn_of_children_left() {
  for (const pid_t pid : children_left()) {
    report_undone(
        fmt::format("process {} was killed and has not ended, the kernel holds it: it is "
                    "left behind",
                    pid));
  }
}

void fill_standard_descriptors() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd > STDERR_FILENO) close(fd);
}

void show(const std::string& text) { show_script(printable_lines(text)); }

void show_script(const std::string& text) { fwrite(text.data(), 1, text.size(), stdout); }

void show_stage(const StageChoices& stages, const char* stage, const std::string& text) {
  if (stages.dump.count(stage)) show(text);
}

int end_of_output(const TargetChoices& target, int exit_code) {
  const bool lost = ferror(stdout) != 0;
  errno = 0;
  if (fflush(stdout) == 0 && !lost) return exit_code;
  const int number = errno != 0 ? errno : EIO;
  if (exit_code != kExitOk) return exit_code;
  return fail(exit_code_beside(target), "DJ5012",
              fmt::format("output ended early: {}", std::strerror(number)));
}

void outlive_readers() {
  signal(SIGPIPE, SIG_IGN);
  FILE* file = fopencookie(nullptr, "w", {nullptr, write_or_lose, nullptr, nullptr});
  if (file == nullptr) return;
  setvbuf(file, nullptr, _IONBF, 0);
  stderr = file;
}

int exit_code_beside(const TargetChoices& target) {
  return target.command.empty() ? kExitRun : kExitOwnFailure;
}

int fail_usage(const CommandLine& line, const UsageError& wrong) {
  report_usage(line, wrong);
  return kExitUsage;
}

int fail_without(const CommandLine& line, const std::string& option, const std::string& message) {
  return fail_usage(line, {"DJ0007", option, message, {}, ""});
}

int fail(int exit_code, const std::string& code, const std::string& message) {
  report_error(code, message);
  return exit_code;
}

int fail_attach(const Error& error) {
  return fail(kExitAttach, attach_code(error.kind), error.message);
}

int print_result(const Result<std::string>& text, const std::function<int(const Error&)>& ended) {
  if (!text.ok()) return ended(text.error());
  show(text.value());
  return kExitOk;
}

}  // namespace dj
