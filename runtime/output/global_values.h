// SPDX-License-Identifier: Apache-2.0
// GlobalValue holds one global of the script as data; read_global() reads it from the arena.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/stages/layout.h"
#include "compiler/stages/program.h"
#include "runtime/output/stat_value.h"

namespace dj {

using Value = std::variant<int64_t, std::string, StatValue, double>;

// Element is one element of an array; a scalar is one element without keys.
struct Element {
  std::vector<Value> keys;
  Value value;
};

struct GlobalValue {
  std::string name;
  bool is_array = false;
  uint64_t pointers = 0;          // Global::pointers
  std::vector<Element> elements;  // by descending value (of aggregates: count), then by key
};

// Reads global number `id` from the arena at layout.base. Elements that handlers add meanwhile may
// be missing.
GlobalValue read_global(const Program& program, GlobalId id, const Layout& layout);
// Reads all globals of the script.
std::vector<GlobalValue> read_globals(const Program& program, const Layout& layout);

// Returns the value as print() writes it: 1.5
std::string double_word(double value);
// Returns a value as the script would write it: 5, "text", @count=4 @min=1 @max=4 @sum=10 @avg=2.
std::string quoted(const Value& value);
// Returns the value of a global's element so; pointers are hexadecimal.
std::string value_text(const GlobalValue& global, const Element& element);
// Returns the keys of an element so, with commas between. pointers: as in GlobalValue.
std::string key_text(const Element& element, uint64_t pointers = 0);

}  // namespace dj
