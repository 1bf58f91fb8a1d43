// SPDX-License-Identifier: Apache-2.0
// write() until all is written, poll() where that is not possible now.
#include "runtime/output/write_whole.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace dj {

size_t write_whole(int fd, std::string_view text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count >= 0) {
      done += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd room = {fd, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  return done;
}

}  // namespace dj
