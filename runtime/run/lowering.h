// SPDX-License-Identifier: Apache-2.0
// LoweringThread loads LLVM, and the code that uses it, in a thread of its own while djtap checks
// the script and starts the target. This room defines the functions of compiler/stages/image.h,
// which call the loaded code.
#pragma once
#include <string>

#include "compiler/base/result.h"

namespace dj {

// Loads LLVM at once, for a djtap that will not see its own files any more. Call it before there is
// a LoweringThread, while djtap has one thread. Fails if LLVM cannot be loaded.
Status load_lowering();

// While it lives, the thread that made it may call lower(), link() and the other functions of
// image.h; the first lower() waits until everything is loaded. Make one at a time.
class LoweringThread {
 public:
  // wanted: false if djtap will hardly compile handlers: it then loads nothing before lower() is
  // called.
  explicit LoweringThread(bool wanted);
  // Waits for the thread: LLVM must not be loaded while djtap destroys its static objects.
  ~LoweringThread();
  LoweringThread(const LoweringThread&) = delete;
  LoweringThread& operator=(const LoweringThread&) = delete;
};

// Returns the version of the LLVM that compiles; loads LLVM for the answer.
Result<std::string> llvm_version();

// Returns the path of the file that compiles; its build differs from djtap's own. Call it after
// lower().
std::string lowering_path();

}  // namespace dj
