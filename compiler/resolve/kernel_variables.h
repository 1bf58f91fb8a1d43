// SPDX-License-Identifier: Apache-2.0
// KernelVariables: what -L shows of the kernel's functions, by the kernel's BTF.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/btf/kernel_types.h"
#include "compiler/diag/diag.h"
#include "compiler/resolve/module_set.h"

namespace dj {

class KernelVariables {
 public:
  // `files`: the kernel's. Modules of the session's ModuleSet are asked for symbols.
  explicit KernelVariables(const TargetFiles& files) : types_(files.kernel_types) {}

  // Returns " $return:long int $file:struct file*" of a function's entry or return; empty where BTF
  // does not tell. Several functions of one name have none: BTF has one of them, or one that stands
  // for all, and does not say which.
  std::string text(const Site& site, Module& file);

  // Warns at `span` if text() was called, and every answer was empty.
  void warn_if_none(Span span, Diags& diags);

 private:
  bool is_unique(std::string_view symbol, Module& file);

  KernelTypes types_;
  std::map<std::string, std::set<std::string_view>>
      shared_;               // by object: names of several functions
  std::string first_asked_;  // an object
  bool is_any_known_ = false;
};

}  // namespace dj
