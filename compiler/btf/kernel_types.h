// SPDX-License-Identifier: Apache-2.0
// KernelTypes: the BTF of a kernel and its modules, each file read when first asked for.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/btf/btf_file.h"

namespace dj {

class KernelTypes {
 public:
  // `folder`: holds the file "vmlinux" and one for each module, as /sys/kernel/btf does.
  explicit KernelTypes(std::string folder) : folder_(std::move(folder)) {}

  // `object`: kKernelPath, or kKernelModules and a module's name. None: nothing says it. Which of
  // several functions of one name BTF means, it does not say: ask only where the name is unique.
  std::optional<Prototype> prototype(const std::string& object, std::string_view function);
  // Returns why no function of the object has a prototype; empty: its file was read.
  std::string why_none(const std::string& object);

 private:
  const Result<BtfFile>& file_of(const std::string& object);

  std::string folder_;
  std::map<std::string, Result<BtfFile>> files_;  // by object; where they are does not change
};

}  // namespace dj
