// SPDX-License-Identifier: Apache-2.0
// Terminal: the screen of --monitor. Takes the terminal from its first use until it dies: a screen
// of its own, keys without echo. A crash of djtap gives it back too, Ctrl-Z until djtap goes on.
#pragma once
#include <string>
#include <utility>

#include "compiler/base/result.h"

namespace dj {

// Whether a terminal is there that takes control sequences: $TERM may say that it is too simple.
bool is_drawn_on(int fd);
// The same for colours, which $NO_COLOR (no-color.org) turns off.
bool is_coloured(int fd);

class Terminal {
 public:
  // The controlling terminal of djtap. Only one at a time.
  static Result<Terminal> open();
  Terminal(Terminal&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  // Lines and columns there are now.
  std::pair<size_t, size_t> size() const;
  // Shows these lines (UTF-8) instead of what was shown; cut to the size. What a terminal obeys
  // (is_command() in printable.h) becomes a blank, what is no character '?'.
  void show(const std::string& lines) const;
  // Keys pressed since the last call.
  std::string keys() const;

 private:
  explicit Terminal(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace dj
