// Asking the kernel for a thread's number, once per thread where it can be kept.
#include "runtime/agent/thread.h"

#include "runtime/agent/task.h"

using namespace dj;

DJ_RARE uint32_t dj_ask_thread_id() {
  uint32_t tid = agent::kernel_thread_id();
  abi::ThreadTable* table = agent::thread_table();
  uint64_t fs = table != nullptr ? agent::fs_base() : 0;
  if (fs != 0 && fs % agent::kControlBlockAlign == 0) {
    abi::store(&table->slots[agent::thread_index(fs)], agent::thread_word(fs, tid));
  }
  return tid;
}

DJ_RARE uint32_t dj_told_thread_id() {
  const abi::Task* task = agent::told_task();
  return task != nullptr ? static_cast<uint32_t>(task->tid) : agent::thread_id();
}
