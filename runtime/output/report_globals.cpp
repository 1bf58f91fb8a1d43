// SPDX-License-Identifier: Apache-2.0
// Three ways to write globals.
#include "runtime/output/report_globals.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace dj {
namespace {

using Json = nlohmann::ordered_json;

std::string as_text(const GlobalValue& shown) {
  std::string text;
  for (const Element& element : shown.elements) {
    const char* joint = std::holds_alternative<StatValue>(element.value) ? " " : "=";
    std::string keys = shown.is_array ? fmt::format("[{}]", key_text(element, shown.pointers)) : "";
    text += fmt::format("{}{}{}{}\n", shown.name, keys, joint, value_text(shown, element));
  }
  return text;
}

Json json_of(const Value& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value)) return *number;
  if (const double* number = std::get_if<double>(&value)) return *number;
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  const abi::StatTotal& total = std::get<StatValue>(value);
  Json object = Json::object();
  for (auto [name, part] : stat_parts(total)) object[name] = part;
  return object;
}

Json as_json(const GlobalValue& shown) {
  if (!shown.is_array) return json_of(shown.elements.front().value);
  Json list = Json::array();
  for (const Element& element : shown.elements) {
    Json keys = Json::array();
    for (const Value& key : element.keys) keys.push_back(json_of(key));
    list.push_back(Json::object({{"key", keys}, {"value", json_of(element.value)}}));
  }
  return list;
}

// A field of RFC 4180: quoted when it has to be.
std::string csv_field(const Value& value) {
  if (const double* number = std::get_if<double>(&value)) return double_word(*number);
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::to_string(std::get<int64_t>(value));
  if (text->find_first_of(",\"\r\n") == std::string::npos) return *text;
  std::string field;
  for (char c : *text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return "\"" + field + "\"";
}

std::string as_csv(const GlobalValue& shown) {
  std::string text;
  for (const Element& element : shown.elements) {
    std::string keys;
    for (const Value& key : element.keys) keys += "," + csv_field(key);
    const StatValue* total = std::get_if<StatValue>(&element.value);
    if (total == nullptr) {
      text += fmt::format("{}{},{}\n", shown.name, keys, csv_field(element.value));
      continue;
    }
    for (auto [name, part] : stat_parts(*total))
      text += fmt::format("{}@{}{},{}\n", shown.name, name, keys, part);
  }
  return text;
}

}  // namespace

std::vector<GlobalValue> unread_globals(const Program& program, const Layout& layout) {
  std::vector<GlobalValue> values;
  for (GlobalId id = 0; id < program.globals.size(); ++id) {
    const Global& global = program.globals[id];
    if (global.ever_written && !global.ever_read)
      values.push_back(read_global(program, id, layout));
  }
  return values;
}

void report_globals(std::span<const GlobalValue> globals, ReportFormat format, Output& output) {
  Json object = Json::object();
  for (const GlobalValue& shown : globals) {
    if (format == ReportFormat::Json)
      object[shown.name] = as_json(shown);
    else
      output.write(format == ReportFormat::Csv ? as_csv(shown) : as_text(shown));
  }
  if (format == ReportFormat::Json)
    output.write(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace dj
