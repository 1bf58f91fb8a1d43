// SPDX-License-Identifier: Apache-2.0
// trace(), signal_thread(), open_process_file() and the others make the calls that need rights over
// a target. djtap makes them itself, or if its rights do not suffice, the broker does (broker.h);
// the caller does not see which. They have the names, arguments and errno of the kernel's calls.
#pragma once
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/process/broker_messages.h"

namespace dj {

// Calls ptrace(). Takes only requests of trace_requests.h.
long trace(int request, pid_t tid, uint64_t address, const void* data);
// Whether the broker has seized the thread. The thread is no child of djtap then.
bool is_traced_by_broker(pid_t tid);
// Call waitpid() and waitid(P_PID) of a traced thread, with WNOHANG.
pid_t wait_status(pid_t tid, int* status, int options);
int wait_info(pid_t tid, siginfo_t* info, int options);
// Calls tgkill().
int signal_thread(pid_t pid, pid_t tid, int signal);

// Opens a file of /proc/ID, of a process or a thread. Returns a descriptor that closes on exec; -1:
// errno says why.
int open_process_file(pid_t id, ProcessFile file, bool writes = false);
// Reads all of such a file into `text`, up to 32 MB; false: errno says why.
bool read_process_file(pid_t id, ProcessFile file, std::string& text);
// Calls stat() of the program that a process runs. Sets *path, if not null, to where its file lies.
// False: errno says why.
bool stat_program(pid_t pid, struct stat* info, std::string* path = nullptr);
// Calls pidfd_getfd(): returns a descriptor of djtap's own for what thread `tid` of the process has
// open as `fd`. It uses the thread's own table of descriptors where the kernel can (6.9), else the
// process's. -1: errno says why.
int take_descriptor(pid_t pid, pid_t tid, int fd);

// Copy memory of a running process. False: some of it is not there.
bool read_running(pid_t pid, uint64_t address, void* to, size_t bytes);
bool write_running(pid_t pid, uint64_t address, const void* from, size_t bytes);

}  // namespace dj
