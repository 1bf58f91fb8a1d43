// SPDX-License-Identifier: Apache-2.0
// To add a limit: a row here and a field of Limits.
#include "runtime/command/set_limit.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "compiler/diag/diag.h"
#include "runtime/command/command_line.h"
#include "runtime/command/stap_options.h"

namespace dj {
namespace {

// SystemTap's names for limits.
struct LimitRow {
  const char* name;
  int64_t Limits::*field;
  int64_t low, high;
};
constexpr LimitRow kLimitRows[] = {
    {"MAXMAPENTRIES", &Limits::max_map_entries, 1, 16 << 20},
    {"MAXSTRINGLEN", &Limits::max_string_len, 16, 1 << 20},
    {"MAXACTION", &Limits::max_action, 1, 1 << 30},
    {"MAXACTION_HOST", &Limits::max_action_host, 1, 1 << 30},
    {"MAXNESTING", &Limits::max_nesting, 1, 1000},
    {"MAXBACKTRACE", &Limits::max_backtrace, 1, 1000},
    {"MAXERRORS", &Limits::max_errors, 0, 1 << 30},
    {"TRAPCACHE", &Limits::trap_cache, 0, 1},
    {"RINGBYTES", &Limits::ring_bytes, 4096, 64 << 20},
    {"STRINGBYTES", &Limits::string_bytes, 4096, 256 << 20},
    {"CONTEXTS", &Limits::contexts, 1, abi::kMostContexts},
};

}  // namespace

void set_limit(Limits& limits, const std::string& setting) {
  size_t equals = setting.find('=');
  std::string name = setting.substr(0, equals);
  std::vector<std::string> known;
  for (const LimitRow& row : kLimitRows) {
    known.emplace_back(row.name);
    if (name != row.name) continue;
    char* end = nullptr;
    int64_t value =
        equals == std::string::npos ? 0 : std::strtoll(setting.c_str() + equals + 1, &end, 0);
    if (end == nullptr || *end != 0 || value < row.low || value > row.high)
      throw UsageError{
          "DJ0003", "-D", fmt::format("{} takes a number from {} to {}", name, row.low, row.high),
          {},       "",   setting};
    limits.*row.field = value;
    return;
  }
  if (is_stap_limit(name)) return;
  UsageError wrong = {"DJ0003", "-D", "no limit is named " + name, {}, "", setting};
  wrong.help = fmt::format("there are {}", fmt::join(known, ", "));
  const std::string value = equals == std::string::npos ? "=N" : setting.substr(equals);
  for (const std::string& near : near_names(name, known))
    wrong.near.push_back("-D " + near + value);
  throw wrong;
}

}  // namespace dj
