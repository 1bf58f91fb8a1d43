// SPDX-License-Identifier: Apache-2.0
// Reading of counters, scalars, aggregates and maps at the end of a session.
#include "runtime/output/global_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/base/printable.h"
#include "runtime/agent/quote.h"
#include "runtime/output/arena_texts.h"
#include "runtime/output/map_elements.h"
#include "runtime/shared/double_text.h"
#include "runtime/shared/soft_double.h"
#include "runtime/shared/thread_rows.h"

namespace dj {
namespace {

Value value_of(Untrusted<uint64_t> word, Type type, ArenaTexts& texts) {
  if (type == Type::Str) return texts(word);
  if (type == Type::Double) return std::bit_cast<double>(word.number());
  return static_cast<int64_t>(word.number());
}

ArenaView view_of(const Layout& layout) { return {layout.base, layout.bytes}; }

// Of CPUs, of threads without rseq, and of the threads that have been given a row.
uint32_t counter_rows(const ArenaView& arena, const Layout& layout) {
  const uint64_t next =
      layout.header.thread_rows.address(layout.arena()) + offsetof(abi::ThreadRows, next);
  return layout.cpus + 1 + arena.word<uint32_t>(next).at_most(layout.thread_rows);
}

int64_t counter_sum(const Layout& layout, uint32_t counter) {
  const ArenaView arena = view_of(layout);
  uint64_t sum = 0, address = layout.header.counters.address(layout.arena()) + 8ull * counter;
  for (uint32_t row = 0, rows = counter_rows(arena, layout); row < rows; ++row)
    sum += arena.word(address + (uint64_t{row} << layout.header.counter_shift)).number();
  return static_cast<int64_t>(sum);
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

// By descending weight, then by what the keys are shown as.
void sort_elements(std::vector<Element>& elements) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < elements.size(); ++i) order.emplace_back(weight(elements[i].value), i);
  std::vector<std::string> texts(elements.size());
  const auto keys_of = [&](size_t i) -> const std::string& {
    if (texts[i].empty()) texts[i] = key_text(elements[i]);
    return texts[i];
  };
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : keys_of(a.second) < keys_of(b.second);
  });
  std::vector<Element> sorted;
  sorted.reserve(elements.size());
  for (const auto& [weight, i] : order) sorted.push_back(std::move(elements[i]));
  elements = std::move(sorted);
}

std::vector<Element> read_array(const Global& global, const GlobalSlot& slot,
                                const Layout& layout) {
  const ArenaView arena = view_of(layout);
  const abi::MapForm form = map_form(global, slot, layout);
  ArenaTexts texts(layout, uint64_t{form.capacity} * (form.key_count + 1));
  std::vector<Element> elements;
  each_element(arena, slot.data, form, [&](const MapElement& from) {
    Element& element = elements.emplace_back();
    element.keys.reserve(global.keys.size());
    for (size_t i = 0; i < global.keys.size(); ++i)
      element.keys.push_back(value_of(from.keys[i], global.keys[i], texts));
    if (from.stat != 0)
      element.value = read_stat(arena, from.stat, 0, 1, slot.shape);
    else
      element.value = value_of(from.value, global.value, texts);
  });
  sort_elements(elements);
  return elements;
}

}  // namespace

GlobalValue read_global(const Program& program, GlobalId id, const Layout& layout) {
  const Global& global = program.globals[id];
  const GlobalSlot& slot = layout.globals[id];
  GlobalValue shown{global.name, global.storage == Storage::Array, global.pointers, {}};
  const ArenaView arena = view_of(layout);
  if (global.storage == Storage::Array) {
    shown.elements = read_array(global, slot, layout);
    return shown;
  }
  Value& value = shown.elements.emplace_back().value;
  if (global.storage == Storage::Counter) {
    value = counter_sum(layout, slot.counter);
  } else if (global.storage == Storage::Stats) {
    value = read_stat(arena, slot.address, slot.stride, layout.cpus + 1, slot.shape);
  } else {
    ArenaTexts texts(layout, 1);
    value = value_of(arena.word(slot.address), global.value, texts);
  }
  return shown;
}

std::vector<GlobalValue> read_globals(const Program& program, const Layout& layout) {
  std::vector<GlobalValue> values;
  for (GlobalId id = 0; id < program.globals.size(); ++id) {
    if (!program.globals[id].own()) values.push_back(read_global(program, id, layout));
  }
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
