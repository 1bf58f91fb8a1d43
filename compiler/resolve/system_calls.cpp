// SPDX-License-Identifier: Apache-2.0
// Files are told apart by stat(2).
#include "compiler/resolve/system_calls.h"

#include <sys/stat.h>

namespace dj {
namespace {

int64_t nanoseconds(const timespec& time) {
  constexpr int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

SystemCalls::Found& SystemCalls::of(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return gone_.emplace_back();
  return files_[{info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim),
                 nanoseconds(info.st_ctim)}];
}

}  // namespace dj
