// SPDX-License-Identifier: Apache-2.0
// LuaOutputs holds the Lua files of a session, the output plugin of -f plugin:NAME and the file of
// --report, and calls them.
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
  // Add the file's text to `sources`, which must outlive this object, and run its main chunk;
  // mistakes in it are in diags(). plugin: the name of one that comes with djtap, or a path that
  // ends in .lua. report: a path. Each may be empty. Fail if there is no such file or plugin.
  Status load_plugin(const std::string& plugin, Sources& sources);
  Status load_report(const std::string& report, Sources& sources);

  bool takes_records() const;  // false: djtap writes what handlers print as text
  bool takes_globals() const;  // false: djtap reports the globals in its own form
  // Writes what the main chunks of the files have printed.
  void flush(Output& output);
  // Calls the files' functions for one output of a handler, or for the session's end, and writes
  // what they print.
  void record(const PrintRecord& record, Output& output);
  void end(std::span<const GlobalValue> globals, const StackNamer& name_stack, Output& output);

  // One error at most for each file; djtap does not call a file that has failed any more.
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

// Returns the names of the plugins that come with djtap.
std::vector<std::string> plugin_names();

}  // namespace dj
