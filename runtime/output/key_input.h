// SPDX-License-Identifier: Apache-2.0
// KeyInput: djtap's standard input, character by character, for input probes.
#pragma once
#include <termios.h>

#include <optional>
#include <string>

namespace dj {

// While it lives, a terminal gives each key at once and echoes nothing (ISIG stays: Ctrl-C ends the
// session). One at a time, and not beside a Terminal (--monitor).
class KeyInput {
 public:
  KeyInput();
  ~KeyInput();
  KeyInput(const KeyInput&) = delete;

  // What has come since the last call; does not wait. Of a terminal that is another job's, nothing.
  std::string read();

 private:
  bool ended_ = false;
  std::optional<termios> before_;  // of the terminal; none: it is another kind of file
};

}  // namespace dj
