// SPDX-License-Identifier: Apache-2.0
// RunningMemory reads and writes the memory of a running process through /proc/PID/mem.
#pragma once
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>

#include "runtime/process/process.h"
#include "runtime/process/tracer.h"
#include "runtime/shared/abi.h"

namespace dj {

class RunningMemory {
 public:
  // flags: O_RDONLY or O_RDWR.
  explicit RunningMemory(pid_t pid, int flags = O_RDONLY)
      : fd_(open_process_file(pid, ProcessFile::Memory, flags == O_RDWR)) {
    const pid_t tid = !is_open() || is_gone() ? living_thread(pid) : pid;
    if (tid == pid) return;
    if (is_open()) close(fd_);
    fd_ = open_process_file(tid, ProcessFile::Memory, flags == O_RDWR);
  }
  RunningMemory(const RunningMemory&) = delete;
  ~RunningMemory() {
    if (fd_ >= 0) close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }
  // Whether the program has ended or the process has executed another one: the object keeps the
  // memory of the program that the process had when the object opened it.
  bool is_gone() const {
    char byte;
    return is_open() && pread(fd_, &byte, 1, 0) == 0;
  }
  // Copy `bytes` bytes. False: some of the memory is not there.
  bool read(uint64_t address, void* to, size_t bytes) const {
    return pread(fd_, to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
  }
  bool write(uint64_t address, const void* from, size_t bytes) const {
    return pwrite(fd_, from, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
  }

 private:
  int fd_;
};

// Whether the program of `memory` has the session's memory. A program that the target has executed
// since does not have it. header: djtap's own.
inline bool has_session(const RunningMemory& memory, const abi::Header& header) {
  uint64_t ticket = 0;
  return memory.read(header.arena_base + offsetof(abi::Header, ticket), &ticket, sizeof ticket) &&
         ticket == header.ticket;
}

}  // namespace dj
