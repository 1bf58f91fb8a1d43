// SPDX-License-Identifier: Apache-2.0
// ScriptGrowth is the script of a session that goes on growing: probes that are added while it runs
// may use all of its globals, functions and aliases, and get what they need from tapsets.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/check.h"
#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/parse/parse.h"
#include "compiler/stages/ast.h"
#include "compiler/tapset/library.h"
#include "runtime/command/choices.h"

namespace dj {

class ScriptGrowth {
 public:
  // script: expanded; it and all else must outlive this object.
  ScriptGrowth(ast::Script& script, const ScriptChoices& choices, const TargetChoices& target,
               Sources& sources, TapsetLibrary& library, const ParseOptions& parsing)
      : script_(script),
        choices_(choices),
        target_(target),
        sources_(sources),
        library_(library),
        parsing_(parsing) {}

  const ast::Script& script() const { return script_; }
  Sources& sources() { return sources_; }

  // Parses `text` and puts it behind the script. Mistakes go to `diags`; then, and whenever what
  // was added is not to stay, call undo().
  void add(const std::string& text, Diags& diags);
  // Checks the script as it is now. Mistakes, and warnings about what was added last, go to
  // `diags`.
  Program check_all(const DoubleTargets& doubles, Diags& diags) const;
  // Makes the script what it was before the last add().
  void undo();

 private:
  ast::Script& script_;
  const ScriptChoices& choices_;
  const TargetChoices& target_;
  Sources& sources_;
  TapsetLibrary& library_;
  const ParseOptions& parsing_;
  uint32_t added_ = 0;  // number of the last text in sources_
  // Sizes: of the script before the last add().
  struct Sizes {
    size_t globals = 0, functions = 0, aliases = 0, probes = 0;
  } before_;
};

}  // namespace dj
