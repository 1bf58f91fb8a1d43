// SPDX-License-Identifier: Apache-2.0
// LLVM's fatal errors, which end the process, made into Errors.
#pragma once
#include <functional>

#include "compiler/base/result.h"

namespace dj::ir {

// Does `work`, which calls LLVM, and returns what it returns, or LLVM's words where it would have
// ended the process (llvm/Support/ErrorHandling.h, report_fatal_error()). What LLVM had in hand
// then is not freed: use none of it any more. Any thread.
Status survive(const std::function<Status()>& work);

}  // namespace dj::ir
