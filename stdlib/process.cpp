// SPDX-License-Identifier: Apache-2.0
// Built-ins about the running thread, and about the session.
#include "runtime/agent/scratch.h"
#include "runtime/agent/task.h"
#include "runtime/agent/user_memory.h"
#include "stdlib/entries.h"

using namespace dj;
using agent::arena;

namespace {

// A number of the current process: the one that a Task tells, or what a system call says.
int64_t who(int64_t abi::Task::* told, int64_t call) {
  const abi::Task* task = agent::told_task();
  return task != nullptr ? task->*told : agent::ask_kernel(call, 0);
}

}  // namespace

int64_t dj_pid() {
  const abi::Task* task = agent::told_task();
  return task != nullptr ? task->pid : agent::process_id();
}
int64_t dj_uid() { return who(&abi::Task::uid, agent::kSysGetuid); }
int64_t dj_euid() { return who(&abi::Task::euid, agent::kSysGeteuid); }
int64_t dj_gid() { return who(&abi::Task::gid, agent::kSysGetgid); }
int64_t dj_egid() { return who(&abi::Task::egid, agent::kSysGetegid); }
int64_t dj_ppid() { return who(&abi::Task::ppid, agent::kSysGetppid); }
int64_t dj_pgrp() { return who(&abi::Task::pgrp, agent::kSysGetpgid); }
int64_t dj_sid() { return who(&abi::Task::sid, agent::kSysGetsid); }

const abi::Str* dj_execname(abi::Context* ctx) {
  constexpr uint64_t kGetName = 16;  // PR_GET_NAME
  char name[16] = {};
  if (const abi::Task* task = agent::told_task())
    __builtin_memcpy(name, task->name, sizeof name);
  else
    agent::ask_kernel(agent::kSysPrctl, kGetName, agent::word(name));
  uint32_t length = 0;
  while (length < sizeof name && name[length] != '\0') ++length;
  return agent::make_string(ctx, name, length);
}

// By asking the kernel for fs base: this thread may have no control block.
int64_t dj_user_errno() {
  constexpr uint64_t kGetFs = 0x1003;  // ARCH_GET_FS
  const int64_t offset = arena()->errno_offset;
  uint64_t fs = 0;
  if (offset == 0 || agent::memory_owner() != agent::process_id() ||
      agent::ask_kernel(agent::kSysArchPrctl, kGetFs, agent::word(&fs)) != 0) {
    return 0;
  }
  int32_t value = 0;
  return agent::can_read(&value, fs + static_cast<uint64_t>(offset), sizeof value) ? value : 0;
}

// As pid() is said here: by djtap's own handlers as djtap sees it, by all others as the target
// does.
int64_t dj_target() {
  const abi::Header* header = arena();
  const bool same = header->first_own_pid == header->first_pid;
  const bool is_own =
      !same && agent::told_task() == nullptr && header->controller == agent::process_id();
  return static_cast<int64_t>(same || is_own ? header->first_pid : header->first_own_pid);
}

int64_t dj_cpu_number() {
  uint32_t row = agent::current_row();
  if (row < arena()->cpus) return row;
  uint32_t cpu = 0;
  agent::ask_kernel(agent::kSysGetcpu, agent::word(&cpu));
  return cpu;
}
