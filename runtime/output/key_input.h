// SPDX-License-Identifier: Apache-2.0
// KeyInput reads djtap's standard input, character by character, for input probes.
#pragma once
#include <termios.h>

#include <optional>
#include <string>

namespace dj {

// While a KeyInput lives, the terminal gives each key at once and echoes nothing. ISIG stays set:
// Ctrl-C ends the session. Make one at a time, and none while a Terminal lives (--monitor).
class KeyInput {
 public:
  KeyInput();
  ~KeyInput();
  KeyInput(const KeyInput&) = delete;

  // Returns what has come since the last call; does not wait. Returns "" while the terminal belongs
  // to another job.
  std::string read();

 private:
  bool ended_ = false;
  std::optional<termios> before_;  // the terminal's settings; empty: stdin is no terminal
};

}  // namespace dj
