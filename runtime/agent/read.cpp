// SPDX-License-Identifier: Apache-2.0
// Checked reads of one word of the program's memory.
#include "runtime/agent/user_memory.h"
#include "runtime/shared/entries.h"

using namespace dj;

uint64_t dj_read(uint64_t address, uint32_t size, uint32_t* bad) {
  uint64_t value = 0;
  bool readable = size <= sizeof value && agent::can_read(&value, address, size);
  *bad = !readable;
  return readable ? value : 0;
}
