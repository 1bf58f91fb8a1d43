// The few escape sequences that every terminal of the last decades knows.
#include "runtime/control/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace dj {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // second screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGHUP, SIGQUIT};

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

// From the first look at keys or the first screen on; messages before that stay readable.
void take(int fd) {
  if (held_fd >= 0) return;
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ISIG stays: Ctrl-C ends the session
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(fd, TCSANOW, &raw);
  held_fd = fd;
  struct sigaction action = {};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (int signal : kCrashes) sigaction(signal, &action, nullptr);
  put(fd, kEnter);
}

}  // namespace

Result<Terminal> Terminal::open() {
  int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (fd < 0 || tcgetattr(fd, &before) < 0) {
    if (fd >= 0) close(fd);
    return Error{"--monitor needs a terminal"};
  }
  return Terminal(fd);
}

Terminal::~Terminal() {
  if (fd_ < 0) return;
  give_back();
  for (int signal : kCrashes) ::signal(signal, SIG_DFL);
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
    for (char c : line.substr(0, columns))
      text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    text += "\x1b[K";
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
