// SPDX-License-Identifier: Apache-2.0
// LLVM, and what uses it, is loaded by a thread of its own while the script is checked and the
// target is started. The functions of compiler/stages/image.h are here; they hand on to it.
#pragma once
#include <string>

#include "compiler/base/result.h"

namespace dj {

// Loads LLVM at once, for a djtap that will not see its own files any more. To be called before
// there is a LoweringThread, while djtap has one thread.
Status load_lowering();

// While it lives, lower(), link() and their session processes may be called, by the thread that
// made it; the first lower() waits until all is loaded. One at a time.
class LoweringThread {
 public:
  // wanted: false, handlers will hardly be compiled, so nothing is loaded before lower() is called.
  explicit LoweringThread(bool wanted);
  // Waits: LLVM must not be loaded while djtap's static objects are taken down.
  ~LoweringThread();
  LoweringThread(const LoweringThread&) = delete;
  LoweringThread& operator=(const LoweringThread&) = delete;
};

// The version of the LLVM that compiles, which is loaded for the answer.
Result<std::string> llvm_version();

// The file that has compiled, once lower() was called; its build is not djtap's own.
std::string lowering_path();

}  // namespace dj
