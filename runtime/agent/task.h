// Who the current process is where that is not who runs the handler.
#pragma once
#include "runtime/agent/thread.h"
#include "runtime/shared/task.h"

namespace dj::agent {

// Null: the handler runs in the process that it is about. Forked children that still run handlers
// share the header with djtap, but not the memory it points to.
inline const abi::Task* told_task() {
  const abi::Header* header = arena();
  if (__builtin_expect(header->task == 0, 1) || header->loader.controller != process_id())
    return nullptr;
  return reinterpret_cast<const abi::Task*>(header->task);
}

}  // namespace dj::agent

#pragma GCC visibility push(hidden)
extern "C" {
// thread.cpp. tid() where a Task is told.
DJ_RARE uint32_t dj_told_thread_id();
}
#pragma GCC visibility pop
