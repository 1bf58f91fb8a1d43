// SPDX-License-Identifier: Apache-2.0
// Broker is a small process that keeps djtap's rights when the rest of djtap, the worker, gives
// them up for a target of another user (rights.h). By the worker's orders it does what an equal of
// the target may not do: it opens the files that the user has named for djtap. Where the kernel
// does not let an equal trace the target, it also traces this one target and what the target has
// forked, and no other process. Without a broker djtap does all of that itself.
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
  // Forks the broker, for a target that has the rights `rights` now. pidfd: of the target. djtap
  // must have one thread. The broker ends with djtap.
  static Status start(pid_t target, int pidfd, Rights rights, OwnPaths files);
  // Returns the broker of this djtap; null: it has none.
  static Broker* get();

  // Sends an order and returns the broker's answer. A broker that has ended answers with EPIPE.
  Answer ask(const Order& order);
  // Sends an order that gives a descriptor and returns it; -1: errno says why there is none.
  int ask_descriptor(const Order& order);

  // Closes the socket, which ends the broker, and waits for its end.
  ~Broker();

 private:
  Broker(int socket, pid_t pid) : socket_(socket), pid_(pid) {}

  int socket_;
  pid_t pid_;
  std::mutex mutex_;
};

// These do the same as OwnFiles::next_output(), listen_at() and OwnFiles::open_read() of
// own_files.h, by the broker, or without one by djtap itself. files: djtap's own.
Result<int> next_output_of(OwnFiles& files);
Result<int> listen_for_user(const std::string& path);
Result<int> open_for_user(const std::string& path);

}  // namespace dj
