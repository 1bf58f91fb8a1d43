// SPDX-License-Identifier: Apache-2.0
// Nothing here waits: what a client does not read now is kept until it does.
#include "runtime/session/control_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "compiler/base/printable.h"
#include "runtime/process/broker.h"

namespace dj {
namespace {

constexpr size_t kLongestRequest = 64 << 10;

void watch(int epoll, int fd, int operation, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  epoll_ctl(epoll, operation, fd, &event);
}

}  // namespace

Result<ControlSocket> ControlSocket::listen(const std::string& path) {
  DJ_TRY(int listener, listen_for_user(path));
  ControlSocket made;
  made.listener_ = listener;
  made.path_ = path;
  made.epoll_ = epoll_create1(EPOLL_CLOEXEC);
  watch(made.epoll_, made.listener_, EPOLL_CTL_ADD, EPOLLIN);
  return made;
}

ControlSocket::ControlSocket(ControlSocket&& other) noexcept
    : path_(std::exchange(other.path_, "")),
      epoll_(std::exchange(other.epoll_, -1)),
      listener_(std::exchange(other.listener_, -1)),
      clients_(std::exchange(other.clients_, {})) {}

ControlSocket::~ControlSocket() {
  for (Client& client : clients_) {
    close(client.fd);
  }
  if (listener_ >= 0) close(listener_);
  if (epoll_ >= 0) close(epoll_);
  if (!path_.empty()) unlink(path_.c_str());
}

void ControlSocket::accept_clients() {
  for (;;) {
    int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    clients_.push_back({fd, "", ""});
    watch(epoll_, fd, EPOLL_CTL_ADD, EPOLLIN);
  }
}

bool ControlSocket::send(Client& client) {
  while (!client.out.empty()) {
    ssize_t sent = ::send(client.fd, client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN) return false;
      break;
    }
    client.out.erase(0, static_cast<size_t>(sent));
  }
  watch(epoll_, client.fd, EPOLL_CTL_MOD, client.out.empty() ? EPOLLIN : EPOLLOUT);
  return true;
}

bool ControlSocket::receive(Client& client, const Run& run) {
  char bytes[4096];
  ssize_t got = recv(client.fd, bytes, sizeof bytes, 0);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
  client.in.append(bytes, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  for (size_t end; (end = client.in.find('\n')) != std::string::npos;) {
    const Answer answer = run(client.in.substr(0, end));
    client.out += printable_lines(answer.text);
    client.out +=
        answer.done.ok() ? "ok\n" : printable_line("error: {}", answer.done.error().message);
    client.in.erase(0, end + 1);
  }
  return client.in.size() < kLongestRequest;
}

void ControlSocket::serve(const Run& run) {
  accept_clients();
  for (auto client = clients_.begin(); client != clients_.end();) {
    bool stays = (!client->out.empty() || receive(*client, run)) && send(*client);
    if (!stays) close(client->fd);
    client = stays ? std::next(client) : clients_.erase(client);
  }
}

}  // namespace dj
