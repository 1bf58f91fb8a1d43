// SPDX-License-Identifier: Apache-2.0
// The few escape sequences that every terminal of the last decades knows.
#include "runtime/output/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "compiler/base/printable.h"

namespace dj {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // second screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
// Not SIGBUS: files that are read have a handler of that (mapped_bytes.h), which ends in SIGABRT.
constexpr int kCrashes[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGQUIT};

// For the handler of a crash.
int held_fd = -1;
termios before;

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t count = write(fd, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

void give_back() {
  if (held_fd < 0) return;
  put(held_fd, kLeave);
  tcsetattr(held_fd, TCSANOW, &before);
  held_fd = -1;
}

void on_crash(int signal) {
  give_back();
  raise(signal);  // the handler is gone (SA_RESETHAND)
}

void enter(int fd) {
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ISIG stays: Ctrl-C ends the session
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(fd, TCSANOW, &raw);
  held_fd = fd;
  put(fd, kEnter);
}

// Ctrl-Z: the shell gets its terminal back until djtap goes on; what is shown then is drawn anew.
void on_stop(int signal) {
  const int fd = held_fd, number = errno;
  give_back();
  struct sigaction usual = {}, ours = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, &ours);
  raise(signal);  // it is not blocked here (SA_NODEFER): djtap stands in this call
  sigaction(signal, &ours, nullptr);
  if (fd >= 0) enter(fd);
  errno = number;
}

// From the first look at keys or the first screen on; messages before that stay readable.
void take(int fd) {
  if (held_fd >= 0) return;
  struct sigaction action = {};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (int signal : kCrashes) sigaction(signal, &action, nullptr);
  action.sa_handler = on_stop;
  action.sa_flags = SA_NODEFER | SA_RESTART;
  struct sigaction stop = {};
  sigaction(SIGTSTP, nullptr, &stop);
  if (stop.sa_handler != SIG_IGN) sigaction(SIGTSTP, &action, nullptr);
  enter(fd);
}

struct Range {
  uint32_t low, high;
};
// Unicode's East Asian wide blocks and emoji; marks that stand above the character before them.
constexpr Range kWide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                           {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                           {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
constexpr Range kAbove[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}};

bool is_in(uint32_t code, std::span<const Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return code >= r.low && code <= r.high; });
}

// What of a line fits; what is no character becomes '?', what a terminal obeys a blank.
std::string fitted(std::string_view line, size_t columns) {
  std::string text;
  while (!line.empty()) {
    const auto [code, bytes] = first_character(line);
    const bool is_blank = bytes != 0 && is_command(code);
    const size_t width = is_in(code, kWide) ? 2 : is_in(code, kAbove) && !is_blank ? 0 : 1;
    if (width > columns) break;
    columns -= width;
    text += is_blank ? " " : bytes == 0 ? "?" : line.substr(0, bytes);
    line.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return text;
}

}  // namespace

bool is_drawn_on(int fd) {
  const char* kind = std::getenv("TERM");
  return isatty(fd) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

bool is_coloured(int fd) {
  const char* none = std::getenv("NO_COLOR");
  return is_drawn_on(fd) && (none == nullptr || *none == 0);
}

Result<Terminal> Terminal::open() {
  int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (fd < 0 || tcgetattr(fd, &before) < 0) {
    if (fd >= 0) close(fd);
    return Error{"--monitor needs a terminal"};
  }
  if (!is_drawn_on(fd)) {
    close(fd);
    return Error{"--monitor needs a terminal that is drawn on; $TERM says \"dumb\""};
  }
  return Terminal(fd);
}

Terminal::~Terminal() {
  if (fd_ < 0) return;
  give_back();
  for (int signal : kCrashes) ::signal(signal, SIG_DFL);
  ::signal(SIGTSTP, SIG_DFL);
  close(fd_);
}

std::pair<size_t, size_t> Terminal::size() const {
  winsize now = {};
  if (ioctl(fd_, TIOCGWINSZ, &now) < 0 || now.ws_row == 0 || now.ws_col == 0) return {24, 80};
  return {now.ws_row, now.ws_col};
}

void Terminal::show(const std::string& lines) const {
  take(fd_);
  auto [rows, columns] = size();
  std::string text = "\x1b[H";
  std::string_view rest = lines;
  for (size_t row = 0; row < rows && !rest.empty(); ++row) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (row > 0) text += "\r\n";
    text += fitted(line, columns) + "\x1b[K";
  }
  put(fd_, text + "\x1b[J");
}

std::string Terminal::keys() const {
  take(fd_);
  char bytes[64];
  ssize_t count = read(fd_, bytes, sizeof bytes);
  return count > 0 ? std::string(bytes, static_cast<size_t>(count)) : "";
}

}  // namespace dj
