// SPDX-License-Identifier: Apache-2.0
// LuaTapset: a tapset file in Lua. It runs once, before the script is checked; it looks into the
// target's files and writes tapset text in the script language. docs/lua.md says what it sees.
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
  // `file`: of `sources`; `family`: what its probes' names begin with. All must outlive this
  // object.
  LuaTapset(const Sources& sources, uint32_t file, std::string family, TargetIndex& index,
            TypePrinters& printers, const LuaLimits& limits = {});

  // Runs the file; its printers are added to those given. The text that it wrote. None: it failed,
  // and the error is in `diags`.
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

// Runs tapset files: the number of the text that one wrote, added to `sources`; none: it failed, or
// `index` gave none, which is then the caller's to report.
std::function<std::optional<uint32_t>(uint32_t file, const std::string& family, Diags& diags)>
run_lua_tapsets(Sources& sources, std::function<TargetIndex*()> index, TypePrinters& printers);

}  // namespace dj
