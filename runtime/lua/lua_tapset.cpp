// SPDX-License-Identifier: Apache-2.0
// The table `dj` of tapset files.
#include "runtime/lua/lua_tapset.h"

#include <ctime>
#include <lua.hpp>

#include "compiler/base/result.h"
#include "runtime/lua/lua_failure.h"
#include "runtime/lua/lua_printers.h"
#include "runtime/lua/lua_values.h"

namespace dj {
namespace {

LuaTapset* tapset_of(lua_State* state) {
  return static_cast<LuaTapset*>(lua_touserdata(state, lua_upvalueindex(1)));
}

std::string text_argument(lua_State* state, int number, const char* otherwise = nullptr) {
  size_t length = 0;
  const char* text = otherwise != nullptr ? luaL_optlstring(state, number, otherwise, &length)
                                          : luaL_checklstring(state, number, &length);
  return std::string(text, length);
}

// A table with fields, on the stack's top.
struct Row {
  explicit Row(lua_State* s) : state(s) { lua_newtable(s); }
  void set(const char* field, const std::string& text) const {
    lua_pushlstring(state, text.data(), text.size());
    lua_setfield(state, -2, field);
  }
  void set(const char* field, uint64_t number) const {
    lua_pushinteger(state, static_cast<lua_Integer>(number));
    lua_setfield(state, -2, field);
  }
  lua_State* state;
};

// Pushes a list of what `push` makes of each item.
template <typename Item, typename Push>
int push_list(lua_State* state, const std::vector<Item>& items, Push push) {
  lua_createtable(state, static_cast<int>(items.size()), 0);
  lua_Integer count = 0;
  for (const Item& item : items) {
    push(item);
    lua_seti(state, -2, ++count);
  }
  return 1;
}

// What is not known: nil and the reason.
int push_reason(lua_State* state, const Error& error) {
  lua_pushnil(state);
  lua_pushlstring(state, error.message.data(), error.message.size());
  return 2;
}

int push_number(lua_State* state, const Result<int64_t>& number) {
  if (!number.ok()) return push_reason(state, number.error());
  lua_pushinteger(state, number.value());
  return 1;
}

// The points of dj.alias: one text or a list of texts, with commas between.
std::string points_argument(lua_State* state, int number) {
  if (lua_type(state, number) != LUA_TTABLE) return text_argument(state, number);
  std::string points;
  lua_Integer count = luaL_len(state, number);
  luaL_argcheck(state, count > 0, number, "a list of points is empty");
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_geti(state, number, i);
    points += (i > 1 ? ", " : "") + text_argument(state, -1);
    lua_pop(state, 1);
  }
  return points;
}

}  // namespace

LuaTapset::LuaTapset(const Sources& sources, uint32_t file, std::string family, TargetIndex& index,
                     TypePrinters& printers, const LuaLimits& limits)
    : sources_(sources),
      file_(file),
      family_(std::move(family)),
      index_(index),
      printers_(printers),
      sandbox_(limits) {
  std::optional<LuaFailure> failed = sandbox_.protect([this](lua_State* s) { add_library(s); });
  CHECK(!failed);
}

void LuaTapset::add_library(lua_State* state) {
  constexpr luaL_Reg kFunctions[] = {
      {"alias", alias},         {"define", define}, {"modules", modules},
      {"functions", functions}, {"marks", marks},   {"variables", variables},
      {"offset", offset},       {"size", size},     {"timezone", timezone}};
  lua_newtable(state);
  for (const luaL_Reg& row : kFunctions) {
    lua_pushlightuserdata(state, this);
    lua_pushcclosure(state, row.func, 1);
    lua_setfield(state, -2, row.name);
  }
  add_printer_functions(state, printers_);
  lua_pushcfunction(state, json_quote);
  lua_setfield(state, -2, "quote");
  lua_setglobal(state, "dj");
}

// Only so can a script find the file by the name that it uses.
void LuaTapset::check_name(lua_State* state, const std::string& name) const {
  if (name == family_ || name.starts_with(family_ + ".")) return;
  luaL_error(state, "%s.lua gives probes %s.NAME, not \"%s\"", family_.c_str(), family_.c_str(),
             name.c_str());
}

// dj.alias("family.name", points [, statements])
int LuaTapset::alias(lua_State* state) {
  LuaTapset* self = tapset_of(state);
  std::string name = text_argument(state, 1);
  self->check_name(state, name);
  self->text_ += "probe " + name + " = " + points_argument(state, 2) + " { " +
                 text_argument(state, 3, "") + " }\n";
  return 0;
}

// dj.define(text): declarations in the script language.
int LuaTapset::define(lua_State* state) {
  tapset_of(state)->text_ += text_argument(state, 1) + "\n";
  return 0;
}

// dj.modules(): paths.
int LuaTapset::modules(lua_State* state) {
  return push_list(state, tapset_of(state)->index_.modules(), [&](const std::string& path) {
    lua_pushlstring(state, path.data(), path.size());
  });
}

// dj.functions("[object!]pattern")
int LuaTapset::functions(lua_State* state) {
  auto found = tapset_of(state)->index_.functions(text_argument(state, 1));
  if (!found.ok()) return luaL_argerror(state, 1, found.error().message.c_str());
  return push_list(state, found.value(), [&](const IndexedFunction& function) {
    Row row(state);
    row.set("name", function.name);
    row.set("symbol", function.symbol);
    row.set("module", function.module);
    row.set("address", function.address);
    row.set("size", function.size);
  });
}

// dj.marks(["object"])
int LuaTapset::marks(lua_State* state) {
  auto found = tapset_of(state)->index_.marks(text_argument(state, 1, ""));
  return push_list(state, found, [&](const IndexedMark& mark) {
    Row row(state);
    row.set("provider", mark.provider);
    row.set("name", mark.name);
    row.set("module", mark.module);
    row.set("arguments", mark.arguments);
  });
}

// dj.variables("[object!]function"), or nil and the reason
int LuaTapset::variables(lua_State* state) {
  auto found = tapset_of(state)->index_.variables(text_argument(state, 1));
  if (!found.ok()) return push_reason(state, found.error());
  return push_list(state, found.value(), [&](const IndexedVariable& variable) {
    Row row(state);
    row.set("name", variable.name);
    row.set("type", variable.type);
    lua_pushboolean(state, variable.parameter);
    lua_setfield(state, -2, "parameter");
  });
}

// dj.offset("object", "type", "member.member[n]"), or nil and the reason
int LuaTapset::offset(lua_State* state) {
  return push_number(
      state, tapset_of(state)->index_.offset(text_argument(state, 1), text_argument(state, 2),
                                             text_argument(state, 3)));
}

// dj.size("object", "type"), or nil and the reason
int LuaTapset::size(lua_State* state) {
  return push_number(
      state, tapset_of(state)->index_.size(text_argument(state, 1), text_argument(state, 2)));
}

// dj.timezone(): seconds west of UTC now, and the zone's name.
int LuaTapset::timezone(lua_State* state) {
  time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  lua_pushinteger(state, -local.tm_gmtoff);
  lua_pushstring(state, local.tm_zone);
  return 2;
}

std::optional<std::string> LuaTapset::run(Diags& diags) {
  std::optional<LuaFailure> failed = sandbox_.run(sources_.files[file_].text);
  if (!report_failure(failed, sources_, file_, diags)) return std::nullopt;
  return std::move(text_);
}

std::function<std::optional<uint32_t>(uint32_t, const std::string&, Diags&)> run_lua_tapsets(
    Sources& sources, std::function<TargetIndex*()> index, TypePrinters& printers) {
  return [&sources, &printers, index = std::move(index)](uint32_t file, const std::string& family,
                                                         Diags& diags) -> std::optional<uint32_t> {
    TargetIndex* known = index();
    if (known == nullptr) return std::nullopt;
    std::optional<std::string> text = LuaTapset(sources, file, family, *known, printers).run(diags);
    if (!text) return std::nullopt;
    return sources.add("what " + sources.files[file].name + " wrote", std::move(*text));
  };
}

}  // namespace dj
