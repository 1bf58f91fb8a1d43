// Reading of counters, scalars, aggregates and maps at the end of a session.
#include "runtime/output/global_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/base/printable.h"
#include "runtime/agent/quote.h"
#include "runtime/shared/double_text.h"
#include "runtime/shared/map.h"
#include "runtime/shared/soft_double.h"
#include "runtime/shared/thread_rows.h"

namespace dj {
namespace {

Value value_of(uint64_t word, Type type) {
  if (type == Type::Double) return std::bit_cast<double>(word);
  if (type != Type::Str) return static_cast<int64_t>(word);
  if (word == 0) return std::string();
  const abi::Str* s = reinterpret_cast<const abi::Str*>(word);
  return std::string(s->data, s->len);
}

int64_t counter_sum(const Layout& layout, uint32_t counter) {
  int64_t sum = 0;
  const uint32_t rows = abi::counter_rows(reinterpret_cast<const abi::Header*>(layout.base));
  for (uint32_t row = 0; row < rows; ++row) {
    uint64_t address =
        layout.header.counters + (uint64_t{row} << layout.header.counter_shift) + 8 * counter;
    sum += *reinterpret_cast<const int64_t*>(address);
  }
  return sum;
}

std::string shown(const Value& value, bool is_pointer) {
  const int64_t* number = is_pointer ? std::get_if<int64_t>(&value) : nullptr;
  return number == nullptr ? quoted(value) : fmt::format("{:#x}", static_cast<uint64_t>(*number));
}

// What the elements of an array are sorted by.
int64_t weight(const Value& value) {
  if (const StatValue* total = std::get_if<StatValue>(&value)) return total->count;
  if (const double* number = std::get_if<double>(&value))
    return abi::double_order(std::bit_cast<uint64_t>(*number));
  const int64_t* number = std::get_if<int64_t>(&value);
  return number != nullptr ? *number : 0;
}

std::vector<Element> read_array(const Global& global, const GlobalSlot& slot) {
  std::vector<Element> elements;
  const auto* map = reinterpret_cast<const abi::Map*>(slot.address);
  abi::map_each(map, [&](const abi::MapNode& node, const abi::Stat* stat) {
    Element element;
    for (size_t i = 0; i < global.keys.size(); ++i)
      element.keys.push_back(value_of(node.keys[i], global.keys[i]));
    if (stat != nullptr)
      element.value = read_stat(stat, 0, 1, slot.shape);
    else
      element.value = value_of(abi::map_value(map, &node), global.value);
    elements.push_back(std::move(element));
  });
  std::sort(elements.begin(), elements.end(), [](const Element& a, const Element& b) {
    int64_t x = weight(a.value), y = weight(b.value);
    return x != y ? x > y : key_text(a) < key_text(b);
  });
  return elements;
}

}  // namespace

GlobalValue read_global(const Program& program, GlobalId id, const Layout& layout) {
  const Global& global = program.globals[id];
  const GlobalSlot& slot = layout.globals[id];
  GlobalValue shown{global.name, global.storage == Storage::Array, global.pointers, {}};
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
                                read_stat(reinterpret_cast<const abi::Stat*>(slot.address),
                                          slot.stride, layout.cpus + 1, slot.shape)});
      break;
    case Storage::Array:
      shown.elements = read_array(global, slot);
      break;
  }
  return shown;
}

std::vector<GlobalValue> read_globals(const Program& program, size_t count, const Layout& layout) {
  std::vector<GlobalValue> values;
  for (GlobalId id = 0; id < count; ++id) values.push_back(read_global(program, id, layout));
  return values;
}

std::string double_word(double value) {
  char text[abi::kShortDoubleBytes];
  return {text, abi::short_double_text(text, std::bit_cast<uint64_t>(value))};
}

// Control characters, quotes and backslashes as one writes them in a script: a line stays a line.
// What is no ASCII is left to printable().
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    char bytes[4];
    const bool plain = static_cast<unsigned char>(c) >= 0x80;
    out.append(plain ? &c : bytes, plain ? 1 : agent::escape(bytes, c));
  }
  return out;
}

std::string quoted(const Value& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const double* number = std::get_if<double>(&value)) return double_word(*number);
  if (const std::string* text = std::get_if<std::string>(&value))
    return fmt::format("\"{}\"", printable(escaped(*text)));
  const StatValue& total = std::get<StatValue>(value);
  std::string text;
  for (auto [name, part] : stat_parts(total))
    text += fmt::format("{}@{}={}", text.empty() ? "" : " ", name, part);
  return text;
}

std::string value_text(const GlobalValue& global, const Element& element) {
  return shown(element.value, global.pointers & 1);
}

std::string key_text(const Element& element, uint64_t pointers) {
  std::string text;
  for (size_t i = 0; i < element.keys.size(); ++i) {
    const bool is_pointer = pointers >> (i + 1) & 1;
    text += (text.empty() ? "" : ",") + shown(element.keys[i], is_pointer);
  }
  return text;
}

}  // namespace dj
