// SPDX-License-Identifier: Apache-2.0
// Terminal draws the screen of --monitor. It takes over the terminal from its first use until its
// destructor: a screen of its own, keys without echo. A crash of djtap also gives the terminal
// back; Ctrl-Z gives it back until djtap goes on.
#pragma once
#include <string>
#include <utility>

#include "compiler/base/result.h"

namespace dj {

// Whether `fd` is a terminal that takes control sequences; $TERM may say that it is too simple.
bool is_drawn_on(int fd);
// Whether `fd` is such a terminal and $NO_COLOR (no-color.org) does not turn colours off.
bool is_coloured(int fd);

class Terminal {
 public:
  // Opens the controlling terminal of djtap. Make one Terminal at a time.
  static Result<Terminal> open();
  Terminal(Terminal&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  // Returns the lines and columns that the terminal has now.
  std::pair<size_t, size_t> size() const;
  // Shows these lines (UTF-8) instead of the earlier ones, cut to the size. A character that a
  // terminal obeys (is_command() in printable.h) becomes a blank; bytes that are no character
  // become '?'.
  void show(const std::string& lines) const;
  // Returns the keys pressed since the last call.
  std::string keys() const;

 private:
  explicit Terminal(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace dj
