// SPDX-License-Identifier: Apache-2.0
// The table `dj`, the calls into the file, and Lua's errors as diagnostics.
#include "runtime/lua/lua_file.h"

#include <lua.hpp>

#include "compiler/base/result.h"
#include "runtime/lua/lua_failure.h"
#include "runtime/lua/lua_values.h"

namespace dj {
namespace {

constexpr const char* kRecordFunctions = "djtap.on_record";
constexpr const char* kEndFunctions = "djtap.on_end";

LuaFile* file_of(lua_State* state) {
  return static_cast<LuaFile*>(lua_touserdata(state, lua_upvalueindex(1)));
}

// dj.on_record(f) and dj.on_end(f): upvalue 2 is the list, upvalue 3 the flag.
int add_function(lua_State* state) {
  luaL_checktype(state, 1, LUA_TFUNCTION);
  lua_getfield(state, LUA_REGISTRYINDEX, lua_tostring(state, lua_upvalueindex(1)));
  lua_pushvalue(state, 1);
  lua_seti(state, -2, luaL_len(state, -2) + 1);
  *static_cast<bool*>(lua_touserdata(state, lua_upvalueindex(2))) = true;
  return 0;
}

// Calls each function of a list with what `push` pushes.
template <typename Push>
void call_each(lua_State* state, const char* list, Push push) {
  lua_getfield(state, LUA_REGISTRYINDEX, list);
  lua_Integer count = luaL_len(state, -1);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_geti(state, -1, i);
    push(state);
    lua_call(state, 1, 0);
  }
  lua_pop(state, 1);
}

}  // namespace

LuaFile::LuaFile(const Sources& sources, uint32_t file, const LuaLimits& limits)
    : sources_(sources), file_(file), sandbox_(limits) {
  std::optional<LuaFailure> failed = sandbox_.protect([this](lua_State* s) { add_library(s); });
  CHECK(!failed);
}

void LuaFile::add_library(lua_State* state) {
  auto add_own = [&](const char* name, lua_CFunction function) {
    lua_pushlightuserdata(state, this);
    lua_pushcclosure(state, function, 1);
    lua_setfield(state, -2, name);
  };
  auto add_list = [&](const char* name, const char* list, bool* flag) {
    lua_newtable(state);
    lua_setfield(state, LUA_REGISTRYINDEX, list);
    lua_pushstring(state, list);
    lua_pushlightuserdata(state, flag);
    lua_pushcclosure(state, add_function, 2);
    lua_setfield(state, -2, name);
  };
  lua_newtable(state);
  add_list("on_record", kRecordFunctions, &takes_records_);
  add_list("on_end", kEndFunctions, &takes_globals_);
  add_own("write", write);
  add_own("enclose", enclose);
  add_own("stack_names", name_stack);
  add_own("names", names);
  add_own("is_array", is_array);
  add_own("rows", rows);
  lua_pushcfunction(state, json_quote);
  lua_setfield(state, -2, "quote");
  lua_setglobal(state, "dj");
  lua_pushglobaltable(state);
  add_own("print", print);
  lua_pop(state, 1);
}

// print(...): as Lua's own, tabs between, a line feed behind.
int LuaFile::print(lua_State* state) {
  LuaFile* self = file_of(state);
  for (int i = 1, count = lua_gettop(state); i <= count; ++i) {
    size_t length = 0;
    const char* text = luaL_tolstring(state, i, &length);
    if (i > 1) self->text_ += '\t';
    self->text_.append(text, length);
    lua_pop(state, 1);
  }
  self->text_ += '\n';
  return 0;
}

int LuaFile::write(lua_State* state) {
  size_t length = 0;
  const char* text = luaL_checklstring(state, 1, &length);
  file_of(state)->text_.append(text, length);
  return 0;
}

// dj.enclose(head, between, tail)
int LuaFile::enclose(lua_State* state) {
  const auto text = [state](int i) {
    size_t length = 0;
    const char* begin = luaL_checklstring(state, i, &length);
    return std::string(begin, length);
  };
  file_of(state)->enclosure_ = {text(1), text(2), text(3)};
  return 0;
}

// dj.stack_names(text)
int LuaFile::name_stack(lua_State* state) {
  size_t length = 0;
  const char* stack = luaL_checklstring(state, 1, &length);
  const LuaFile* self = file_of(state);
  if (!self->name_stack_) return luaL_error(state, "there are no stacks before dj.on_end");
  const auto names = self->name_stack_(std::string_view(stack, length));
  if (!names) return lua_pushnil(state), 1;
  lua_newtable(state);
  for (size_t i = 0; i < names->size(); ++i) {
    lua_pushlstring(state, (*names)[i].data(), (*names)[i].size());
    lua_seti(state, -2, static_cast<lua_Integer>(i) + 1);
  }
  return 1;
}

const GlobalValue* LuaFile::global_named(lua_State* state) {
  const char* name = luaL_checkstring(state, 1);
  for (const GlobalValue& global : globals_) {
    if (global.name == name) return &global;
  }
  luaL_error(state,
             globals_.empty() ? "there are no globals before dj.on_end: \"%s\""
                              : "the script has no global named \"%s\"",
             name);
  return nullptr;  // not reached
}

// dj.names(): of the globals, in the script's order.
int LuaFile::names(lua_State* state) {
  lua_newtable(state);
  lua_Integer count = 0;
  for (const GlobalValue& global : file_of(state)->globals_) {
    lua_pushlstring(state, global.name.data(), global.name.size());
    lua_seti(state, -2, ++count);
  }
  return 1;
}

// dj.is_array("name")
int LuaFile::is_array(lua_State* state) {
  lua_pushboolean(state, file_of(state)->global_named(state)->is_array);
  return 1;
}

// dj.rows("name")
int LuaFile::rows(lua_State* state) {
  const GlobalValue* global = file_of(state)->global_named(state);
  if (!global->is_array) return luaL_error(state, "%s is no array", global->name.c_str());
  push_rows(state, *global);
  return 1;
}

bool LuaFile::finish(const std::optional<LuaFailure>& failed, Diags& diags) {
  return report_failure(failed, sources_, file_, diags);
}

bool LuaFile::load(Diags& diags) { return finish(sandbox_.run(sources_.files[file_].text), diags); }

bool LuaFile::on_record(const PrintRecord& record, Diags& diags) {
  return finish(sandbox_.protect([&](lua_State* state) {
    call_each(state, kRecordFunctions, [&](lua_State* s) { push_record(s, record); });
  }),
                diags);
}

bool LuaFile::on_end(std::span<const GlobalValue> globals, const StackNamer& name_stack,
                     Diags& diags) {
  globals_ = globals;
  name_stack_ = name_stack;
  std::optional<LuaFailure> failed = sandbox_.protect([&](lua_State* state) {
    call_each(state, kEndFunctions, [&](lua_State* s) { push_globals(s, globals); });
  });
  globals_ = {};
  name_stack_ = nullptr;
  return finish(failed, diags);
}

}  // namespace dj
