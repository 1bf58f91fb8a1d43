// SPDX-License-Identifier: Apache-2.0
// A module's file needs the kernel's.
#include "compiler/btf/kernel_types.h"

#include "compiler/base/object_point.h"

namespace dj {

const Result<BtfFile>& KernelTypes::file_of(const std::string& object) {
  if (const auto found = files_.find(object); found != files_.end()) return found->second;
  const std::string kernel(kKernelPath);
  if (object == kernel)
    return files_.emplace(object, BtfFile::read(folder_ + "/vmlinux")).first->second;
  const Result<BtfFile>& base = file_of(kernel);
  const std::string path = folder_ + "/" + object.substr(kKernelModules.size());
  return files_
      .emplace(object,
               base.ok() ? BtfFile::read(path, &base.value()) : Result<BtfFile>(base.error()))
      .first->second;
}

std::optional<Prototype> KernelTypes::prototype(const std::string& object,
                                                std::string_view function) {
  const Result<BtfFile>& file = file_of(object);
  return file.ok() ? file.value().prototype(function) : std::nullopt;
}

std::string KernelTypes::why_none(const std::string& object) {
  const Result<BtfFile>& file = file_of(object);
  return file.ok() ? "" : file.error().message;
}

}  // namespace dj
