// SPDX-License-Identifier: Apache-2.0
// One descriptor, read to its end.
#include "runtime/output/own_text.h"

#include <unistd.h>

#include "runtime/process/broker.h"
#include "runtime/process/os_error.h"

namespace dj {

Result<std::string> own_text(const std::string& path) {
  DJ_TRY(int fd, open_for_user(path));
  std::string text;
  char bytes[4096];
  ssize_t got = 0;
  while ((got = read(fd, bytes, sizeof bytes)) > 0) text.append(bytes, static_cast<size_t>(got));
  const int number = errno;
  close(fd);
  if (got < 0) return os_error("cannot read " + path, number);
  return text;
}

}  // namespace dj
