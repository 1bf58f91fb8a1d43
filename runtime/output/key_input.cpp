// SPDX-License-Identifier: Apache-2.0
// Asks by poll() what is there, since standard input may be a file, which epoll does not take.
#include "runtime/output/key_input.h"

#include <poll.h>
#include <unistd.h>

namespace dj {
namespace {

constexpr int kInput = STDIN_FILENO;

// The kernel would stop djtap for touching another job's terminal.
bool is_ours() {
  const pid_t owner = tcgetpgrp(kInput);
  return owner < 0 || owner == getpgrp();
}

}  // namespace

KeyInput::KeyInput() {
  termios now = {};
  if (tcgetattr(kInput, &now) != 0 || !is_ours()) return;
  before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  tcsetattr(kInput, TCSANOW, &now);
}

KeyInput::~KeyInput() {
  if (before_ && is_ours()) tcsetattr(kInput, TCSANOW, &*before_);
}

std::string KeyInput::read() {
  if (ended_ || !is_ours()) return "";
  pollfd ready = {kInput, POLLIN, 0};
  if (poll(&ready, 1, 0) <= 0) return "";
  char bytes[256];
  const ssize_t count = ::read(kInput, bytes, sizeof bytes);
  ended_ = count <= 0;
  return std::string(bytes, count > 0 ? static_cast<size_t>(count) : 0);
}

}  // namespace dj
