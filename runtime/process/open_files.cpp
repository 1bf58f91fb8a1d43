// SPDX-License-Identifier: Apache-2.0
// The kernel keeps one limit for all of djtap's threads (setrlimit(2)).
#include "runtime/process/open_files.h"

namespace dj {
namespace {

std::optional<rlimit> before;

}  // namespace

void raise_open_files() {
  rlimit now = {};
  if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= now.rlim_max) return;
  const rlimit most = {now.rlim_max, now.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &most) == 0) before = now;
}

std::optional<rlim_t> open_files_before() {
  if (!before) return std::nullopt;
  return before->rlim_cur;
}

void lower_open_files() {
  if (before) setrlimit(RLIMIT_NOFILE, &*before);
}

}  // namespace dj
