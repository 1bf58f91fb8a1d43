// Buffered text to one descriptor; what was written stays readable whatever happens later.
#include "runtime/control/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dj {

Result<Output> Output::open(const std::string& path) {
  if (path.empty()) return Output(STDOUT_FILENO, false);
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  return Output(fd, true);
}

Output::Output(Output&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owned_(other.owned_),
      buffer_(std::move(other.buffer_)),
      error_(std::move(other.error_)) {}

Output::~Output() {
  if (fd_ < 0) return;
  flush();
  if (owned_) close(fd_);
}

void Output::flush() {
  size_t done = 0;
  while (done < buffer_.size() && !closed()) {
    ssize_t count = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (count >= 0) {
      done += static_cast<size_t>(count);
    } else if (errno != EINTR && errno != EAGAIN) {
      error_ = std::strerror(errno);
    }
  }
  buffer_.clear();
}

}  // namespace dj
