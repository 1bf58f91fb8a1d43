// SPDX-License-Identifier: Apache-2.0
// task.h gives the process that a handler is about where another one runs the handler.
#pragma once
#include "runtime/agent/thread.h"
#include "runtime/shared/task.h"

namespace dj::agent {

// Null: the handler runs in the process that it is about.
inline const abi::Task* told_task() {
  const abi::ThreadTable* table = abi::thread_table_of(arena());
  return table == nullptr ? nullptr : reinterpret_cast<const abi::Task*>(table->task);
}

}  // namespace dj::agent

#pragma GCC visibility push(hidden)
extern "C" {
// thread.cpp. tid() where a Task is told.
DJ_COLD_CALL uint32_t dj_told_thread_id();
}
#pragma GCC visibility pop
