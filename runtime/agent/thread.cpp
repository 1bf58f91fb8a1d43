// SPDX-License-Identifier: Apache-2.0
// Asking the kernel for a thread's number, once per thread where it can be kept.
#include "runtime/agent/thread.h"

#include "runtime/agent/task.h"

using namespace dj;

DJ_COLD_CALL uint32_t dj_ask_thread_id() {
  uint32_t tid = agent::kernel_thread_id();
  abi::ThreadTable* table = abi::thread_table_of(agent::arena());
  if (table != nullptr && abi::load(&table->taken_over) == 0) agent::take_over(table, tid);
  table = agent::thread_table();
  uint64_t fs = table != nullptr ? agent::fs_base() : 0;
  if (fs != 0 && fs % agent::kControlBlockAlign == 0) {
    abi::store(&table->slots[agent::thread_index(fs)], agent::thread_word(fs, tid));
  }
  return tid;
}

void agent::forget_thread(uint64_t fs) {
  auto* table = abi::thread_table_of(agent::arena());
  if (table == nullptr) return;
  const uint64_t index = thread_index(fs);
  abi::store(&table->slots[index], uint64_t{0});
  abi::ThreadBlock* block = &table->blocks[index];
  const uint64_t word = abi::load(&block->word);
  if (!is_word_of(word, fs)) return;
  forget_calls(block);
  abi::cas(&block->word, word, 0);
}

DJ_COLD_CALL uint32_t dj_told_thread_id() {
  const abi::Task* task = agent::told_task();
  return task != nullptr ? static_cast<uint32_t>(task->tid) : agent::thread_id();
}
