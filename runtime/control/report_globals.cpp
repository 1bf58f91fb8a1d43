// Globals as data read from the arena, and three ways to write them.
#include "runtime/control/report_globals.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <variant>

#include "runtime/shared/map.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

using Json = nlohmann::ordered_json;
using Value = std::variant<int64_t, std::string, abi::StatTotal>;

// One element of an array; a scalar is one without keys.
struct Element {
  std::vector<Value> keys;
  Value value;
};

struct Shown {
  std::string name;
  bool is_array = false;
  std::vector<Element> elements;
};

constexpr std::pair<const char*, uint32_t> kStatParts[] = {{"count", abi::kStatCount},
                                                           {"min", abi::kStatMin},
                                                           {"max", abi::kStatMax},
                                                           {"sum", abi::kStatSum},
                                                           {"avg", abi::kStatAvg}};

// An aggregate without samples has a count and nothing else.
std::span<const std::pair<const char*, uint32_t>> parts_of(const abi::StatTotal& total) {
  return std::span(kStatParts).first(total.count == 0 ? 1 : std::size(kStatParts));
}

Value value_of(uint64_t word, Type type) {
  if (type != Type::Str) return static_cast<int64_t>(word);
  if (word == 0) return std::string();
  const abi::Str* s = reinterpret_cast<const abi::Str*>(word);
  return std::string(s->data, s->len);
}

int64_t counter_sum(const Layout& layout, uint32_t counter) {
  int64_t sum = 0;
  for (uint32_t row = 0; row <= layout.cpus; ++row) {
    uint64_t address =
        layout.header.counters + (uint64_t{row} << layout.header.counter_shift) + 8 * counter;
    sum += *reinterpret_cast<const int64_t*>(address);
  }
  return sum;
}

std::string quoted(const Value& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const std::string* text = std::get_if<std::string>(&value))
    return fmt::format("\"{}\"", *text);
  const abi::StatTotal& total = std::get<abi::StatTotal>(value);
  std::string text;
  for (auto [name, op] : parts_of(total))
    text += fmt::format("{}@{}={}", text.empty() ? "" : " ", name, total.get(op));
  return text;
}

std::string key_text(const Element& element) {
  std::string text;
  for (const Value& key : element.keys) text += (text.empty() ? "" : ",") + quoted(key);
  return text;
}

// What the elements of an array are sorted by.
int64_t weight(const Value& value) {
  if (const abi::StatTotal* total = std::get_if<abi::StatTotal>(&value)) return total->count;
  const int64_t* number = std::get_if<int64_t>(&value);
  return number != nullptr ? *number : 0;
}

std::vector<Element> read_array(const Global& global, const GlobalSlot& slot) {
  std::vector<Element> elements;
  abi::map_each(reinterpret_cast<const abi::Map*>(slot.address),
                [&](const abi::MapNode& node, const abi::Stat* stat) {
                  Element element;
                  for (size_t i = 0; i < global.keys.size(); ++i)
                    element.keys.push_back(value_of(node.keys[i], global.keys[i]));
                  if (stat != nullptr)
                    element.value = abi::stat_total(stat, 0, 1);
                  else
                    element.value = value_of(node.pair.first, global.value);
                  elements.push_back(std::move(element));
                });
  std::sort(elements.begin(), elements.end(), [](const Element& a, const Element& b) {
    int64_t x = weight(a.value), y = weight(b.value);
    return x != y ? x > y : key_text(a) < key_text(b);
  });
  return elements;
}

Shown read_global(const Global& global, const GlobalSlot& slot, const Layout& layout) {
  Shown shown{global.name, global.storage == Storage::Array, {}};
  switch (global.storage) {
    case Storage::Counter:
      shown.elements.push_back({{}, counter_sum(layout, slot.counter)});
      break;
    case Storage::Scalar:
      shown.elements.push_back(
          {{}, value_of(*reinterpret_cast<const uint64_t*>(slot.address), global.value)});
      break;
    case Storage::Stats:
      shown.elements.push_back({{},
                                abi::stat_total(reinterpret_cast<const abi::Stat*>(slot.address),
                                                slot.stride, layout.cpus + 1)});
      break;
    case Storage::Array:
      shown.elements = read_array(global, slot);
      break;
  }
  return shown;
}

std::string as_text(const Shown& shown) {
  std::string text;
  for (const Element& element : shown.elements) {
    const char* joint = std::holds_alternative<abi::StatTotal>(element.value) ? " " : "=";
    std::string keys = shown.is_array ? fmt::format("[{}]", key_text(element)) : "";
    text += fmt::format("{}{}{}{}\n", shown.name, keys, joint, quoted(element.value));
  }
  return text;
}

Json json_of(const Value& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value)) return *number;
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  const abi::StatTotal& total = std::get<abi::StatTotal>(value);
  Json object = Json::object();
  for (auto [name, op] : parts_of(total)) object[name] = total.get(op);
  return object;
}

Json as_json(const Shown& shown) {
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
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::to_string(std::get<int64_t>(value));
  if (text->find_first_of(",\"\r\n") == std::string::npos) return *text;
  std::string field;
  for (char c : *text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return "\"" + field + "\"";
}

std::string as_csv(const Shown& shown) {
  std::string text;
  for (const Element& element : shown.elements) {
    std::string keys;
    for (const Value& key : element.keys) keys += "," + csv_field(key);
    const abi::StatTotal* total = std::get_if<abi::StatTotal>(&element.value);
    if (total == nullptr) {
      text += fmt::format("{}{},{}\n", shown.name, keys, csv_field(element.value));
      continue;
    }
    for (auto [name, op] : parts_of(*total))
      text += fmt::format("{}@{}{},{}\n", shown.name, name, keys, total->get(op));
  }
  return text;
}

}  // namespace

void report_globals(const Program& program, const Layout& layout, ReportFormat format,
                    Output& output) {
  Json object = Json::object();
  for (size_t i = 0; i < program.globals.size(); ++i) {
    const Global& global = program.globals[i];
    if (!global.ever_written || global.ever_read) continue;
    Shown shown = read_global(global, layout.globals[i], layout);
    if (format == ReportFormat::Json)
      object[shown.name] = as_json(shown);
    else
      output.write(format == ReportFormat::Csv ? as_csv(shown) : as_text(shown));
  }
  if (format == ReportFormat::Json)
    output.write(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace dj
