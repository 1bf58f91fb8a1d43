// SPDX-License-Identifier: Apache-2.0
// ControlSocket is --control PATH: a UNIX stream socket on which other programs send djtap one
// command a line. Every answer ends with a line "ok" or "error: ...".
#pragma once
#include <functional>
#include <list>
#include <string>

#include "compiler/base/result.h"

namespace dj {

class ControlSocket {
 public:
  // Makes a fresh socket at `path` to which only this user may connect. Fails if there is a file at
  // `path`.
  static Result<ControlSocket> listen(const std::string& path);
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // removes the path

  // A descriptor that is readable whenever serve() has work to do.
  int fd() const { return epoll_; }
  // Answer: the text of an answer (several lines or none, each with its end), and what its last
  // line says.
  struct Answer {
    std::string text;
    Status done = ok_status();
  };
  // Run: takes a line without its end.
  using Run = std::function<Answer(const std::string& line)>;
  void serve(const Run& run);

 private:
  struct Client {
    int fd = -1;
    std::string in, out;
  };
  ControlSocket() = default;
  void accept_clients();
  bool receive(Client& client, const Run& run);  // false: it has gone
  bool send(Client& client);                     // false: it has gone

  std::string path_;
  int epoll_ = -1, listener_ = -1;
  std::list<Client> clients_;
};

}  // namespace dj
