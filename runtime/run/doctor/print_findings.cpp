// SPDX-License-Identifier: Apache-2.0
// One line a finding, its way out on the next one.
#include "runtime/run/doctor/print_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dj {
namespace {

const char* name_of(Health health) {
  switch (health) {
    case Health::Ok:
      return "ok";
    case Health::Note:
      return "note";
    case Health::Limited:
      return "limited";
    case Health::Fails:
      return "fails";
  }
  return "";
}

size_t count(const Findings& findings, Health health) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& each) { return each.verdict.health == health; }));
}

}  // namespace

std::string findings_text(const Findings& findings, const Seen& seen) {
  std::string text;
  for (const auto& [row, verdict] : findings) {
    text += fmt::format("{:<7} {}: {}\n", name_of(verdict.health), row, verdict.what);
    if (!verdict.way_out.empty()) text += fmt::format("        way out: {}\n", verdict.way_out);
  }
  const size_t fails = count(findings, Health::Fails), limited = count(findings, Health::Limited);
  if (seen.exit_code == 0) return text + "all is well\n";
  return text + fmt::format("{} of {} fail, {} limited\n", fails, findings.size(), limited);
}

std::string findings_json(const Findings& findings, const Seen& seen) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const auto& [row, verdict] : findings) {
    Json each = {{"row", row},
                 {"health", name_of(verdict.health)},
                 {"what", verdict.what},
                 {"way_out", verdict.way_out},
                 {"object", verdict.object},
                 {"build_id", verdict.build_id}};
    rows.push_back(std::move(each));
  }
  Json target = {{"pid", seen.pid}, {"program", seen.program}};
  const Json all = {{"well", seen.exit_code == 0},
                    {"exit_code", seen.exit_code},
                    {"target", std::move(target)},
                    {"findings", std::move(rows)}};
  return all.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace dj
