// SPDX-License-Identifier: Apache-2.0
// The calls that need rights over a target: made by djtap itself, or where its rights do not reach,
// by the broker (broker.h). They are the kernel's, by their names, arguments and errno; which of
// the two makes them the caller does not see.
#pragma once
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/process/broker_messages.h"

namespace dj {

// ptrace(). Only requests of trace_requests.h.
long trace(int request, pid_t tid, uint64_t address, const void* data);
// Has the broker seized the thread? It is no child of djtap's then.
bool is_traced_by_broker(pid_t tid);
// waitpid() and waitid(P_PID) of a thread that is traced, with WNOHANG.
pid_t wait_status(pid_t tid, int* status, int options);
int wait_info(pid_t tid, siginfo_t* info, int options);
// tgkill().
int signal_thread(pid_t pid, pid_t tid, int signal);

// Opens a file of /proc/ID, of a process or a thread. Gives a descriptor that closes on exec; -1:
// errno says why.
int open_process_file(pid_t id, ProcessFile file, bool writes = false);
// All that is in one, up to 32 MB; false: errno says why.
bool read_process_file(pid_t id, ProcessFile file, std::string& text);
// stat() of the program that a process runs; path: if not null, where its file lies. False: errno
// says why.
bool stat_program(pid_t pid, struct stat* info, std::string* path = nullptr);
// pidfd_getfd(): a descriptor of djtap's own for what thread `tid` of the process has open under
// that number, by the thread's own table of descriptors where the kernel can tell it (6.9), else by
// the process's. -1: errno says why.
int take_descriptor(pid_t pid, pid_t tid, int fd);

// Copies memory of a process that runs. False: not all of it is there.
bool read_running(pid_t pid, uint64_t address, void* to, size_t bytes);
bool write_running(pid_t pid, uint64_t address, const void* from, size_t bytes);

}  // namespace dj
