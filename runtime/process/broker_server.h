// SPDX-License-Identifier: Apache-2.0
// serve_orders() runs the broker's side (broker.h): the loop that carries out the worker's orders.
// Charge says for which target.
#pragma once
#include <sys/types.h>

#include "runtime/process/own_files.h"
#include "runtime/process/rights.h"

namespace dj {

struct Charge {
  pid_t target = 0;
  int pidfd = -1;  // of the target
  Rights rights;   // of the target when djtap was told to trace it
  OwnPaths files;
};

// Carries out orders from `socket` until the worker ends. Returns the broker's exit code.
int serve_orders(int socket, const Charge& charge);

}  // namespace dj
