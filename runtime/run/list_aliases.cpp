// SPDX-License-Identifier: Apache-2.0
// Each name becomes a probe of a script that is expanded, checked for its variables' types and
// looked for in the target like any other.
#include "runtime/run/list_aliases.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/check.h"
#include "compiler/parse/parse.h"
#include "compiler/resolve/listing.h"
#include "compiler/resolve/probe_kind.h"
#include "compiler/tapset/alias_names.h"
#include "compiler/tapset/aliases.h"
#include "runtime/run/tapset_library.h"

namespace dj {
namespace {

const char* type_name(Type type) {
  return type == Type::Str ? "string" : type == Type::Double ? "double" : "long";
}

class AliasList {
 public:
  AliasList(bool with_variables, const ScriptChoices& choices, LazyTarget& target, Sources& sources,
            Diags& diags)
      : with_variables_(with_variables),
        choices_(choices),
        target_(target),
        sources_(sources),
        diags_(diags) {}

  std::vector<AliasName> names_of(const std::vector<ast::ProbePoint>& points) {
    ast::Script script;
    for (const ast::ProbePoint& point : points) script.probes.emplace_back().points = {point};
    for (ast::Probe& probe : script.probes) probe.body = std::make_unique<ast::Stmt>();
    TapsetLibrary library = make_library();
    for (const ast::ProbePoint& point : points) library.add_names(point, script);
    library.complete(script, diags_);
    std::vector<AliasName> names;
    for (const ast::ProbePoint& point : points) {
      for (AliasName& name : aliases_meant(point, script)) names.push_back(std::move(name));
    }
    return names;
  }

  std::string show(const std::vector<AliasName>& names) {
    ast::Script script;
    std::vector<uint32_t> files;
    for (const AliasName& name : names) {
      std::string body;
      for (const std::string& variable : name.variables)
        body += with_variables_ ? " println(" + variable + ")" : "";
      files.push_back(sources_.add("<tapsets>", "probe " + name.name + " {" + body + " }"));
      ast::Script probe = parse(sources_, files.back(), {}, diags_);
      std::move(probe.probes.begin(), probe.probes.end(), std::back_inserter(script.probes));
    }
    TapsetLibrary library = make_library();
    library.complete(script, diags_);
    if (diags_.ok()) expand_aliases(script, points_meant, diags_);
    if (!diags_.ok()) return "";
    Program program;
    Diags warnings;
    if (with_variables_) program = check(script, {choices_.strict}, warnings);
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) text += line_of(names[i], files[i], script, program);
    return text;
  }

 private:
  TapsetLibrary make_library() {
    return tapset_library(choices_.tapsets, sources_, target_, printers_);
  }

  // Empty: nothing that the name stands for is in the target.
  std::string line_of(const AliasName& name, uint32_t file, const ast::Script& script,
                      const Program& program) {
    bool found = false;
    std::string variables;
    for (size_t i = 0; i < script.probes.size(); ++i) {
      const ast::Probe& probe = script.probes[i];
      if (probe.span.file != file) continue;
      found = found || is_somewhere(probe.points, target_files(target_.find().value()));
      if (i >= program.probes.size() || !variables.empty()) continue;
      for (const Local& local : program.probes[i].frame.locals) {
        if (name.variables.contains(local.name))
          variables += fmt::format(" {}:{}", local.name, type_name(local.type));
      }
    }
    return found ? name.name + variables + "\n" : "";
  }

  bool with_variables_;
  const ScriptChoices& choices_;
  LazyTarget& target_;
  Sources& sources_;
  Diags& diags_;
  TypePrinters printers_;
};

}  // namespace

std::optional<std::string> list_aliases(bool with_variables, const ScriptChoices& choices,
                                        const std::vector<ast::ProbePoint>& points,
                                        LazyTarget& target, Sources& sources, Diags& diags) {
  AliasList list(with_variables, choices, target, sources, diags);
  std::vector<AliasName> names = list.names_of(points);
  if (names.empty() || !target.find().ok()) return std::nullopt;
  return list.show(names);
}

}  // namespace dj
