// SPDX-License-Identifier: Apache-2.0
// Copies for hooked system calls.
#include "runtime/agent/user_memory.h"

using namespace dj;

bool agent::copy_in(void* to, uint64_t from, uint64_t bytes) {
  int64_t read = read_user(to, from, bytes);
  if (read == static_cast<int64_t>(bytes)) return true;
  if (read >= 0 || read == -kEfault) return false;
  for (uint64_t i = 0; i < bytes; ++i)
    static_cast<char*>(to)[i] = reinterpret_cast<const char*>(from)[i];
  return true;
}

bool agent::copy_out(uint64_t to, const void* from, uint64_t bytes) {
  int64_t written = write_user(to, from, bytes);
  if (written == static_cast<int64_t>(bytes)) return true;
  if (written >= 0 || written == -kEfault) return false;
  for (uint64_t i = 0; i < bytes; ++i)
    reinterpret_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  return true;
}
