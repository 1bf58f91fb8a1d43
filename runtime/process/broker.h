// SPDX-License-Identifier: Apache-2.0
// Broker: a small process that keeps djtap's rights when the rest of djtap, the worker, gives them
// up for a target of another user (rights.h). By the worker's orders it does what an equal of the
// target may not: it opens the files that the user has named for djtap, and where the kernel does
// not let an equal trace the target, it traces this one target, what the target has forked, and
// nobody else. Where there is no broker, djtap does all of that itself.
#pragma once
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

#include "compiler/base/result.h"
#include "runtime/process/broker_messages.h"
#include "runtime/process/own_files.h"
#include "runtime/process/rights.h"

namespace dj {

class Broker {
 public:
  // Forks it, for a target that is now what `rights` says. pidfd: of the target. djtap must have
  // one thread. It ends with djtap.
  static Status start(pid_t target, int pidfd, Rights rights, OwnPaths files);
  // The broker of this djtap; null: it has none.
  static Broker* get();

  // What it says to an order. A broker that is gone answers with EPIPE.
  Answer ask(const Order& order);
  // The same of an order that gives a descriptor; -1: errno says why there is none.
  int ask_descriptor(const Order& order);

  ~Broker();

 private:
  Broker(int socket, pid_t pid) : socket_(socket), pid_(pid) {}

  int socket_;
  pid_t pid_;
  std::mutex mutex_;
};

// By the broker, or where there is none by djtap itself: the same as in own_files.h. files: of
// djtap itself.
Result<int> next_output_of(OwnFiles& files);
Result<int> listen_for_user(const std::string& path);
Result<int> open_for_user(const std::string& path);

}  // namespace dj
