// SPDX-License-Identifier: Apache-2.0
// read_text(): all that the safety checks want to know about a module's machine code, from its
// file.
#pragma once
#include <string>

#include "arch/x86_64/text.h"
#include "compiler/base/result.h"

namespace dj {

Result<arch::ModuleText> read_text(const std::string& path);

}  // namespace dj
