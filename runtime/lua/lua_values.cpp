// SPDX-License-Identifier: Apache-2.0
// What a Lua file sees of a session.
#include "runtime/lua/lua_values.h"

#include <lua.hpp>
#include <nlohmann/json.hpp>

namespace dj {
namespace {

void push_text(lua_State* state, std::string_view text) {
  lua_pushlstring(state, text.data(), text.size());
}

// As a field of the table on top: a table from the value that a bucket begins with to its samples.
void set_buckets(lua_State* state, const char* field, const std::vector<StatBucket>& buckets) {
  lua_createtable(state, 0, static_cast<int>(buckets.size()));
  for (auto [from, count] : buckets) {
    lua_pushinteger(state, from);
    lua_pushinteger(state, count);
    lua_settable(state, -3);
  }
  lua_setfield(state, -2, field);
}

void push_stat(lua_State* state, const StatValue& value) {
  lua_createtable(state, 0, 5);
  auto set = [&](const char* name, int64_t part) {
    lua_pushinteger(state, part);
    lua_setfield(state, -2, name);
  };
  for (auto [name, part] : stat_parts(value)) set(name, part);
  for (auto [name, part] : value.derived) set(name, part);
  if (value.has_log) set_buckets(state, "hist_log", value.log);
  if (!value.has_linear) return;
  set_buckets(state, "hist_linear", value.linear);
  set("below", value.below);
  set("above", value.above);
}

void push_value(lua_State* state, const Value& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value)) return lua_pushinteger(state, *number);
  if (const double* number = std::get_if<double>(&value)) return lua_pushnumber(state, *number);
  if (const std::string* text = std::get_if<std::string>(&value)) return push_text(state, *text);
  push_stat(state, std::get<StatValue>(value));
}

void set_text(lua_State* state, const char* field, std::string_view text) {
  push_text(state, text);
  lua_setfield(state, -2, field);
}

// Replaces the table on top by its element `key`, which is made when it is not there.
void descend(lua_State* state, const Value& key) {
  push_value(state, key);
  if (lua_gettable(state, -2) == LUA_TNIL) {
    lua_pop(state, 1);
    lua_newtable(state);
    push_value(state, key);
    lua_pushvalue(state, -2);
    lua_settable(state, -4);
  }
  lua_remove(state, -2);
}

void push_array(lua_State* state, const GlobalValue& array) {
  lua_newtable(state);
  for (const Element& element : array.elements) {
    lua_pushvalue(state, -1);
    for (size_t i = 0; i + 1 < element.keys.size(); ++i) descend(state, element.keys[i]);
    push_value(state, element.keys.back());
    push_value(state, element.value);
    lua_settable(state, -3);
    lua_pop(state, 1);
  }
}

}  // namespace

void push_record(lua_State* state, const PrintRecord& record) {
  lua_createtable(state, 0, 7);
  lua_pushinteger(state, record.time_ns);
  lua_setfield(state, -2, "time_ns");
  lua_pushinteger(state, record.pid);
  lua_setfield(state, -2, "pid");
  lua_pushinteger(state, record.tid);
  lua_setfield(state, -2, "tid");
  set_text(state, "probe", record.probe);
  set_text(state, "kind", record.kind);
  set_text(state, "text", record.text);
  lua_createtable(state, static_cast<int>(record.args.size()), 0);
  for (size_t i = 0; i < record.args.size(); ++i) {
    if (const int64_t* number = std::get_if<int64_t>(&record.args[i]))
      lua_pushinteger(state, *number);
    else if (const double* fraction = std::get_if<double>(&record.args[i]))
      lua_pushnumber(state, *fraction);
    else
      push_text(state, std::get<std::string_view>(record.args[i]));
    lua_seti(state, -2, static_cast<lua_Integer>(i) + 1);
  }
  lua_setfield(state, -2, "args");
}

void push_globals(lua_State* state, std::span<const GlobalValue> globals) {
  lua_newtable(state);
  for (const GlobalValue& global : globals) {
    if (global.is_array)
      push_array(state, global);
    else
      push_value(state, global.elements.front().value);
    lua_setfield(state, -2, global.name.c_str());
  }
}

void push_rows(lua_State* state, const GlobalValue& array) {
  lua_createtable(state, static_cast<int>(array.elements.size()), 0);
  for (size_t i = 0; i < array.elements.size(); ++i) {
    const Element& element = array.elements[i];
    lua_createtable(state, static_cast<int>(element.keys.size()), 1);
    for (size_t k = 0; k < element.keys.size(); ++k) {
      push_value(state, element.keys[k]);
      lua_seti(state, -2, static_cast<lua_Integer>(k) + 1);
    }
    push_value(state, element.value);
    lua_setfield(state, -2, "value");
    lua_seti(state, -2, static_cast<lua_Integer>(i) + 1);
  }
}

int json_quote(lua_State* state) {
  size_t length = 0;
  const char* text = luaL_checklstring(state, 1, &length);
  using Json = nlohmann::json;
  push_text(state,
            Json(std::string(text, length)).dump(-1, ' ', false, Json::error_handler_t::replace));
  return 1;
}

}  // namespace dj
