// SPDX-License-Identifier: Apache-2.0
// Presence tells those who share a word of memory with djtap whether djtap lives, in whatever way
// it ends and in whatever pid namespace they are: the kernel changes the word (robust futexes,
// set_robust_list(2), Documentation/locking/robust-futex-ABI.rst).
#pragma once
#include <linux/futex.h>

#include <cstdint>
#include <optional>
#include <semaphore>

#include "compiler/base/spare_thread.h"

namespace dj {

class Presence {
 public:
  // Writes a number other than 0 to the bits FUTEX_TID_MASK of `word`. From the end of djtap on, or
  // of this object, they are 0. Where the kernel cannot do that, and where others write to the
  // word, they may stay as they are. word: aligned to 4 bytes.
  explicit Presence(uint32_t* word);
  Presence(const Presence&) = delete;
  ~Presence() { over_.release(); }

 private:
  robust_list_head list_ = {};  // the kernel reads it when the thread ends
  std::binary_semaphore over_{0};
  std::optional<SpareThread> holder_;  // its destructor joins it before over_ dies
};

}  // namespace dj
