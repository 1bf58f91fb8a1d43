// SPDX-License-Identifier: Apache-2.0
// Lua is the library built as C++: its errors are exceptions and pass through our frames cleanly.
#include "runtime/lua/sandbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <lua.hpp>

#include "compiler/base/result.h"
#include "runtime/lua/lua_watch.h"

namespace dj {
namespace {

constexpr int kHookEvery = 1000;  // instructions
constexpr const char* kChunk = "=lua";
constexpr const char* kPrefix = "lua:";  // of messages; a line number follows

LuaSandbox* sandbox_of(lua_State* state) {
  return *static_cast<LuaSandbox**>(lua_getextraspace(state));
}

// string.rep of an empty text would loop in C, where nothing is counted.
int checked_rep(lua_State* state) {
  size_t length = 0, joint = 0;
  luaL_checklstring(state, 1, &length);
  lua_Integer times = luaL_checkinteger(state, 2);
  luaL_optlstring(state, 3, "", &joint);
  if (length + joint == 0 && times > 0) return lua_pushliteral(state, ""), 1;
  lua_settop(state, 3);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, 3, 1);
  return 1;
}

// string.find and the like.
int checked_match(lua_State* state) { return watched_match(state, LuaSandbox::spend_all); }

// string.gmatch gives a function that does the matching.
int checked_gmatch(lua_State* state) {
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, 1);
  lua_pushcclosure(state, checked_match, 1);
  return 1;
}

// What table.sort compares by when nobody says otherwise. It would compare in C, without looking at
// the time.
int timed_less(lua_State* state) {
  LuaSandbox::check_time(state);
  lua_pushboolean(state, lua_compare(state, 1, 2, LUA_OPLT));
  return 1;
}

int timed_sort(lua_State* state) {
  lua_settop(state, 2);
  if (lua_isnil(state, 2)) {
    lua_pushcfunction(state, timed_less);
    lua_replace(state, 2);
  }
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, 2, 0);
  return 0;
}

// xpcall(f, handler, ...): the handler is called when f has ended. Lua calls it where the error is
// raised: of too many instructions that is in the hook that counts them, which does not count
// itself.
int handled_call(lua_State* state) {
  luaL_checktype(state, 2, LUA_TFUNCTION);
  const int count = lua_gettop(state);
  lua_pushvalue(state, 2);
  lua_insert(state, 1);
  lua_remove(state, 3);  // handler, f, arguments
  if (lua_pcall(state, count - 2, LUA_MULTRET, 0) == LUA_OK) {
    lua_pushboolean(state, 1);
    lua_replace(state, 1);
    return lua_gettop(state);
  }
  lua_call(state, 1, 1);
  lua_pushboolean(state, 0);
  lua_insert(state, 1);
  return 2;
}

// With the table on top of the stack: its function `name` becomes an upvalue of `checked`.
void put_before(lua_State* state, const char* name, lua_CFunction checked) {
  lua_getfield(state, -1, name);
  lua_pushcclosure(state, checked, 1);
  lua_setfield(state, -2, name);
}

void remove_names(lua_State* state, const char* table, std::initializer_list<const char*> names) {
  lua_getglobal(state, table);
  for (const char* name : names) {
    lua_pushnil(state);
    lua_setfield(state, -2, name);
  }
  lua_pop(state, 1);
}

// What is left computes on numbers, texts and tables, and each of its loops is counted or bounded
// by memory.
void open_libraries(lua_State* state) {
  constexpr luaL_Reg kLibraries[] = {{LUA_GNAME, luaopen_base},
                                     {LUA_TABLIBNAME, luaopen_table},
                                     {LUA_STRLIBNAME, luaopen_string},
                                     {LUA_MATHLIBNAME, luaopen_math},
                                     {LUA_UTF8LIBNAME, luaopen_utf8}};
  for (const luaL_Reg& library : kLibraries) {
    luaL_requiref(state, library.name, library.func, 1);
    lua_pop(state, 1);
  }
  remove_names(state, LUA_GNAME,
               {"load", "loadfile", "dofile", "collectgarbage", "getmetatable", "setmetatable",
                "rawset", "rawget", "rawequal", "rawlen", "warn", "print"});
  lua_pushcfunction(state, handled_call);
  lua_setglobal(state, "xpcall");
  remove_names(state, LUA_STRLIBNAME, {"dump"});
  remove_names(state, LUA_TABLIBNAME, {"move"});
  lua_getglobal(state, LUA_TABLIBNAME);
  put_before(state, "sort", timed_sort);
  lua_pop(state, 1);
  lua_getglobal(state, LUA_STRLIBNAME);
  put_before(state, "rep", checked_rep);
  for (const char* name : {"find", "match", "gsub"}) put_before(state, name, checked_match);
  put_before(state, "gmatch", checked_gmatch);
  lua_pop(state, 1);
}

// body, as a C function that Lua can call protected.
int run_body(lua_State* state) {
  auto* body = static_cast<const std::function<void(lua_State*)>*>(lua_touserdata(state, 1));
  lua_settop(state, 0);
  (*body)(state);
  return 0;
}

}  // namespace

LuaSandbox::LuaSandbox(const LuaLimits& limits) : limits_(limits) {
  state_ = lua_newstate(allocate, this);
  CHECK(state_ != nullptr);
  *static_cast<LuaSandbox**>(lua_getextraspace(state_)) = this;
  std::optional<LuaFailure> failed = protect(open_libraries);
  CHECK(!failed);
}

LuaSandbox::~LuaSandbox() { lua_close(state_); }

void* LuaSandbox::allocate(void* self, void* block, size_t old_bytes, size_t new_bytes) {
  auto* sandbox = static_cast<LuaSandbox*>(self);
  if (block == nullptr) old_bytes = 0;  // then it is a kind of object
  if (new_bytes == 0) {
    std::free(block);
    sandbox->used_bytes_ -= old_bytes;
    return nullptr;
  }
  if (new_bytes > old_bytes &&
      sandbox->used_bytes_ + (new_bytes - old_bytes) > sandbox->limits_.memory_bytes) {
    if (sandbox->state_ != nullptr) sandbox->note_place();
    sandbox->refused_ = true;
    return nullptr;
  }
  void* made = std::realloc(block, new_bytes);
  if (made != nullptr) sandbox->used_bytes_ += new_bytes - old_bytes;
  return made;
}

void LuaSandbox::count_hook(lua_State* state, lua_Debug*) {
  LuaWatch::note_progress();
  LuaSandbox* sandbox = sandbox_of(state);
  check_time(state);
  if (sandbox->left_ > kHookEvery) {
    sandbox->left_ -= kHookEvery;
    return;
  }
  spend_all(state);
  luaL_error(state, "more than %I instructions: an endless loop?",
             static_cast<lua_Integer>(sandbox->limits_.instructions));
}

// From a signal's handler: as Lua's own interpreter ends a script, by a hook.
void LuaSandbox::end_time(lua_State* state) {
  sandbox_of(state)->time_over_ = 1;
  lua_sethook(state, count_hook, LUA_MASKCOUNT, 1);
}

void LuaSandbox::check_time(lua_State* state) {
  if (sandbox_of(state)->time_over_ == 0) return;
  spend_all(state);
  if (LuaWatch::is_told_to_end()) luaL_error(state, LuaWatch::kToldToEnd);
  luaL_error(state, "more than %d seconds of processor time: an endless loop?", LuaWatch::kSeconds);
}

void LuaSandbox::spend_all(lua_State* state) {
  sandbox_of(state)->left_ = 0;
  lua_sethook(state, count_hook, LUA_MASKCOUNT, 1);  // a pcall does not hold it up
}

// The lines where the file's functions stand just now.
void LuaSandbox::note_place() {
  lines_.clear();
  lua_Debug frame;
  for (int level = 0; lua_getstack(state_, level, &frame) != 0 && lines_.size() < 10; ++level) {
    lua_getinfo(state_, "l", &frame);
    if (frame.currentline > 0) lines_.push_back(static_cast<uint32_t>(frame.currentline));
  }
}

// With the message on the stack, before the functions are left.
int LuaSandbox::on_error(lua_State* state) {
  sandbox_of(state)->note_place();
  luaL_tolstring(state, 1, nullptr);
  return 1;
}

LuaFailure LuaSandbox::failure(int status) {
  LuaFailure failed;
  size_t length = 0;
  const char* text = lua_tolstring(state_, -1, &length);
  failed.message = text != nullptr ? std::string(text, length) : "an error without text";
  if (!lines_.empty()) failed.line = lines_.front();
  if (failed.message.starts_with(kPrefix)) {
    char* end = nullptr;
    failed.line = static_cast<uint32_t>(
        std::strtoul(failed.message.c_str() + std::strlen(kPrefix), &end, 10));
    if (end[0] == ':' && end[1] == ' ') failed.message = std::string(end + 2);
  }
  auto at = std::find(lines_.begin(), lines_.end(), failed.line);
  if (at != lines_.end()) failed.callers.assign(at + 1, lines_.end());
  if (status == LUA_ERRSYNTAX) failed.kind = LuaFailure::Kind::Syntax;
  if (left_ == 0 || status == LUA_ERRMEM) failed.kind = LuaFailure::Kind::Limit;
  if (status == LUA_ERRMEM && refused_)
    failed.message = fmt::format("more than {} MB of memory", limits_.memory_bytes >> 20);
  return failed;
}

std::optional<LuaFailure> LuaSandbox::protect(const std::function<void(lua_State*)>& body) {
  left_ = limits_.instructions;
  time_over_ = 0;
  refused_ = false;
  lines_.clear();
  lua_sethook(state_, count_hook, LUA_MASKCOUNT, kHookEvery);
  lua_settop(state_, 0);
  lua_pushcfunction(state_, on_error);
  lua_pushcfunction(state_, run_body);
  const LuaWatch watch(state_, end_time);
  lua_pushlightuserdata(state_, const_cast<std::function<void(lua_State*)>*>(&body));
  int status = lua_pcall(state_, 1, 0, 1);
  if (status == LUA_OK) return std::nullopt;
  return failure(status);
}

std::optional<LuaFailure> LuaSandbox::run(std::string_view text) {
  bool syntax = false;
  std::optional<LuaFailure> failed = protect([&](lua_State* state) {
    int status = luaL_loadbufferx(state, text.data(), text.size(), kChunk, "t");
    syntax = status == LUA_ERRSYNTAX;
    if (status != LUA_OK) lua_error(state);
    lua_call(state, 0, 0);
  });
  if (failed && syntax) failed->kind = LuaFailure::Kind::Syntax;
  return failed;
}

}  // namespace dj
