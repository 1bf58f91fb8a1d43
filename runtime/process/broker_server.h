// SPDX-License-Identifier: Apache-2.0
// The broker's side (broker.h): who it serves, and the loop that carries out orders.
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

// Carries out orders until the worker is gone. Returns the broker's exit code.
int serve_orders(int socket, const Charge& charge);

}  // namespace dj
