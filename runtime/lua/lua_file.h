// SPDX-License-Identifier: Apache-2.0
// LuaFile runs one report file or output plugin. The file's main chunk registers functions with the
// table `dj`, and djtap calls them: dj.on_record's with each output of a handler, dj.on_end's with
// all globals. docs/lua.md says what such a file sees.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "compiler/diag/diag.h"
#include "runtime/lua/sandbox.h"
#include "runtime/output/global_values.h"
#include "runtime/output/output.h"
#include "runtime/output/print_record.h"
#include "runtime/output/stack_names.h"

namespace dj {

class LuaFile {
 public:
  // `file`: its number in `sources`, which must outlive this object.
  LuaFile(const Sources& sources, uint32_t file, const LuaLimits& limits = {});

  // Each returns false, and has added the error to `diags`, if the Lua code has failed. Call none
  // of them after that.
  bool load(Diags& diags);
  bool on_record(const PrintRecord& record, Diags& diags);
  bool on_end(std::span<const GlobalValue> globals, const StackNamer& name_stack, Diags& diags);

  // Whether the file has registered functions for records, or for globals.
  bool takes_records() const { return takes_records_; }
  bool takes_globals() const { return takes_globals_; }
  // What dj.enclose() has asked for since the last call.
  std::optional<Enclosure> take_enclosure() { return std::exchange(enclosure_, {}); }
  // What the code has printed since the last call.
  std::string take_text() { return std::exchange(text_, {}); }

 private:
  static int print(lua_State* state);
  static int write(lua_State* state);
  static int enclose(lua_State* state);
  static int name_stack(lua_State* state);
  static int names(lua_State* state);
  static int is_array(lua_State* state);
  static int rows(lua_State* state);
  const GlobalValue* global_named(lua_State* state);  // by argument 1; raises a Lua error
  void add_library(lua_State* state);
  bool finish(const std::optional<LuaFailure>& failed, Diags& diags);

  const Sources& sources_;
  uint32_t file_;
  std::string text_;
  std::optional<Enclosure> enclosure_;
  std::span<const GlobalValue> globals_;  // set while on_end() runs
  StackNamer name_stack_;                 // set while on_end() runs
  bool takes_records_ = false, takes_globals_ = false;
  LuaSandbox sandbox_;
};

}  // namespace dj
