// SPDX-License-Identifier: Apache-2.0
// Objects that target expressions name besides the probed one: @var("x", "libm.so.6"),
// @cast(p, "type", "<header.h>").
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/debuginfo/module.h"
#include "compiler/resolve/module_set.h"

namespace dj {

// Where an expression looks: debug info, and where its object stands in the target.
struct OtherObject {
  Module* file = nullptr;
  std::string name;              // as messages say it
  std::optional<uint64_t> bias;  // run-time address minus the file's; none: not in memory
};

class OtherObjects {
 public:
  // Both must outlive this object. compile_headers: as TargetFiles has it, may be empty.
  OtherObjects(ModuleSet& modules, const CompileHeaders& compile_headers)
      : modules_(modules), compile_headers_(compile_headers) {}

  // Does the expression look elsewhere than into the probed object?
  static bool asked(const TargetExpr& expr, const Module& probed);
  // The value of such an expression. An object's own variables have fixed addresses then.
  TargetAnswer target(const TargetExpr& expr, const Module& probed);
  TextAnswer text(const TargetExpr& expr, const Module& probed);
  // The same where nothing is probed, as in functions: what names no object means the first of the
  // target's that knows the name.
  TargetAnswer target(const TargetExpr& expr);
  TextAnswer text(const TargetExpr& expr);

 private:
  using Found = std::variant<std::vector<OtherObject>, TargetFailure>;
  Found objects(const TargetExpr& expr, const Module* probed);
  std::optional<TargetFailure> add_named(const std::string& name, const TargetExpr& expr,
                                         std::vector<OtherObject>& out);
  std::optional<TargetFailure> add_headers(const std::string& headers, const TargetExpr& expr,
                                           std::vector<OtherObject>& out);
  Result<OtherObject> file(const std::string& path, std::string name);
  // probed: null where nothing is.
  template <typename Answer, typename Ask>
  Answer first_answer(const TargetExpr& expr, const Module* probed, Ask ask);

  ModuleSet& modules_;
  const CompileHeaders& compile_headers_;
  // Files that are no part of the target, by path, and by headers: looked into for types.
  std::map<std::string, std::unique_ptr<Module>> files_;
};

}  // namespace dj
