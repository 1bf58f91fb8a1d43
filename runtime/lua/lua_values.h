// SPDX-License-Identifier: Apache-2.0
// Records and globals as Lua values. Each function pushes one value and may raise Lua errors.
#pragma once
#include <span>

#include "runtime/output/global_values.h"
#include "runtime/output/print_record.h"

struct lua_State;

namespace dj {

// {time_ns, pid, probe, kind, text, args}
void push_record(lua_State* state, const PrintRecord& record);

// Scalars as numbers and texts, aggregates as {count, sum, min, max, avg}, arrays as tables, one
// level for each key.
void push_globals(lua_State* state, std::span<const GlobalValue> globals);

// The elements of an array, in the report's order: {key1, key2, .., value = v}.
void push_rows(lua_State* state, const GlobalValue& array);

// A text in the quotes and escapes of JSON.
int json_quote(lua_State* state);

}  // namespace dj
