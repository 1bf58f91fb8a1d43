// SPDX-License-Identifier: Apache-2.0
// push_record(), push_globals() and the others make Lua values of records and globals. Each
// function pushes one value and may raise Lua errors.
#pragma once
#include <span>

#include "runtime/output/global_values.h"
#include "runtime/output/print_record.h"

struct lua_State;

namespace dj {

// Pushes {time_ns, pid, probe, kind, text, args}.
void push_record(lua_State* state, const PrintRecord& record);

// Pushes scalars as numbers and texts, aggregates as {count, sum, min, max, avg}, arrays as tables
// with one level for each key.
void push_globals(lua_State* state, std::span<const GlobalValue> globals);

// Pushes the elements of an array, in the report's order: {key1, key2, .., value = v}.
void push_rows(lua_State* state, const GlobalValue& array);

// Pushes a text in the quotes and escapes of JSON. Lua calls it.
int json_quote(lua_State* state);

}  // namespace dj
