// SPDX-License-Identifier: Apache-2.0
// The worker's end of the socket pair.
#include "runtime/process/broker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/process/broker_server.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

std::unique_ptr<Broker> the_broker;

}  // namespace

Status Broker::start(pid_t target, int pidfd, Rights rights, OwnPaths files) {
  CHECK(the_broker == nullptr && live_threads(getpid()).size() == 1);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return os_error("cannot make a socket pair");
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    _exit(serve_orders(ends[1], {target, pidfd, std::move(rights), std::move(files)}));
  }
  const int number = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return os_error("cannot fork", number);
  }
  the_broker.reset(new Broker(ends[0], pid));
  return ok_status();
}

Broker* Broker::get() { return the_broker.get(); }

Answer Broker::ask(const Order& order) {
  const std::lock_guard lock(mutex_);
  Answer answer;
  if (!send(socket_, order) || !receive(socket_, answer)) return {-1, EPIPE, -1, {}};
  return answer;
}

int Broker::ask_descriptor(const Order& order) {
  const Answer answer = ask(order);
  if (answer.fd < 0) errno = answer.error != 0 ? answer.error : EPROTO;
  return answer.fd;
}

// It removes the control socket before it ends.
Broker::~Broker() {
  close(socket_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<int> next_output_of(OwnFiles& files) {
  Broker* broker = Broker::get();
  if (broker == nullptr) return files.next_output();
  const Answer answer = broker->ask({.verb = Verb::NextOutput});
  if (answer.fd >= 0) return answer.fd;
  const std::string why(answer.data.begin(), answer.data.end());
  return why.empty() ? os_error("cannot write " + files.paths().output, answer.error)
                     : Error{why, Fail::Permission};
}

Result<int> listen_for_user(const std::string& path) {
  Broker* broker = Broker::get();
  if (broker == nullptr) return listen_at(path);
  const int fd = broker->ask_descriptor({.verb = Verb::Listen});
  if (fd < 0) return os_error("cannot make the control socket " + path);
  return fd;
}

Result<int> open_for_user(const std::string& path) {
  Broker* broker = Broker::get();
  const std::vector<uint8_t> name(path.begin(), path.end());
  const int fd = broker == nullptr ? open(path.c_str(), O_RDONLY | O_CLOEXEC)
                                   : broker->ask_descriptor({.verb = Verb::Read, .data = name});
  if (fd < 0) return os_error("cannot read " + path);
  return fd;
}

}  // namespace dj
