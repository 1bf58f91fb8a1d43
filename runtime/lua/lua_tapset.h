// SPDX-License-Identifier: Apache-2.0
// LuaTapset runs a tapset file in Lua, once, before djtap checks the script. The file looks into
// the target's files and writes tapset text in the script language. docs/lua.md says what it sees.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "compiler/diag/diag.h"
#include "compiler/stages/target_index.h"
#include "compiler/stages/type_printer.h"
#include "runtime/lua/sandbox.h"

namespace dj {

class LuaTapset {
 public:
  // `file`: its number in `sources`; `family`: what the names of its probes begin with. All
  // references must outlive this object.
  LuaTapset(const Sources& sources, uint32_t file, std::string family, TargetIndex& index,
            TypePrinters& printers, const LuaLimits& limits = {});

  // Runs the file and adds its printers to the constructor's `printers`. Returns the text that the
  // file wrote; empty: it failed, and the error is in `diags`.
  std::optional<std::string> run(Diags& diags);

 private:
  static int alias(lua_State* state);
  static int define(lua_State* state);
  static int modules(lua_State* state);
  static int functions(lua_State* state);
  static int marks(lua_State* state);
  static int variables(lua_State* state);
  static int offset(lua_State* state);
  static int size(lua_State* state);
  static int timezone(lua_State* state);
  void add_library(lua_State* state);
  void check_name(lua_State* state, const std::string& name) const;

  const Sources& sources_;
  uint32_t file_;
  std::string family_;
  TargetIndex& index_;
  TypePrinters& printers_;
  std::string text_;
  LuaSandbox sandbox_;
};

// Returns a function that runs a tapset file, adds the text that it wrote to `sources` and returns
// the text's number; empty: the file failed, or `index` gave null, which the caller then reports.
std::function<std::optional<uint32_t>(uint32_t file, const std::string& family, Diags& diags)>
run_lua_tapsets(Sources& sources, std::function<TargetIndex*()> index, TypePrinters& printers);

}  // namespace dj
