// SPDX-License-Identifier: Apache-2.0
// LuaOutputs: the Lua files of a session: the output plugin of -f plugin:NAME and the file of
// --report.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/diag/diag.h"
#include "runtime/lua/lua_file.h"
#include "runtime/output/output.h"

namespace dj {

class LuaOutputs {
 public:
  // plugin: the name of one that comes with djtap, or a path that ends in .lua; report: a path;
  // each may be empty. Adds the text to `sources`, which must outlive this object, and runs its
  // main chunk; mistakes in it are in diags(). An error: there is no such file or plugin.
  Status load_plugin(const std::string& plugin, Sources& sources);
  Status load_report(const std::string& report, Sources& sources);

  bool takes_records() const;  // else what handlers print is written as text
  bool takes_globals() const;  // else the globals are reported as ever
  // Writes what files have printed outside of functions, while they were loaded.
  void flush(Output& output);
  void record(const PrintRecord& record, Output& output);
  void end(std::span<const GlobalValue> globals, const StackNamer& name_stack, Output& output);

  // One error at most for each file; a file that failed is not called any more.
  const Diags& diags() const { return diags_; }

 private:
  Status add(const std::string& name, std::string text, Sources& sources);

  struct Running {
    std::unique_ptr<LuaFile> file;
    bool failed = false;
  };
  static void write(Running& running, Output& output);
  std::vector<Running> running_;
  Diags diags_;
};

// The names of the plugins that come with djtap.
std::vector<std::string> plugin_names();

}  // namespace dj
