// SPDX-License-Identifier: Apache-2.0
// os_error() makes an Error from an errno; now_ns() reads the clock.
#pragma once
#include <time.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "compiler/base/result.h"

namespace dj {

// Returns the Error "what: strerror(number)" with the kind that `number` stands for.
inline Error os_error(const std::string& what, int number = errno) {
  Fail kind = Fail::Other;
  if (number == EPERM || number == EACCES) {
    kind = Fail::Permission;
  } else if (number == ENOENT) {
    kind = Fail::NotFound;
  } else if (number == ESRCH) {
    kind = Fail::TargetGone;
  }
  return Error{what + ": " + strerror(number), kind};
}

// Returns CLOCK_MONOTONIC in nanoseconds.
inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace dj
