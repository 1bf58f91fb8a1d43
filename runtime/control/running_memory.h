// RunningMemory: the memory of a process that nobody has stopped, through /proc/PID/mem.
#pragma once
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "runtime/control/process.h"

namespace dj {

class RunningMemory {
 public:
  // flags: O_RDONLY or O_RDWR.
  explicit RunningMemory(pid_t pid, int flags = O_RDONLY)
      : fd_(open(("/proc/" + std::to_string(living_thread(pid)) + "/mem").c_str(),
                 flags | O_CLOEXEC)) {}
  RunningMemory(const RunningMemory&) = delete;
  ~RunningMemory() {
    if (fd_ >= 0) close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }
  // False: not all of it is there.
  bool read(uint64_t address, void* to, size_t bytes) const {
    return pread(fd_, to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
  }
  bool write(uint64_t address, const void* from, size_t bytes) const {
    return pwrite(fd_, from, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
  }

 private:
  int fd_;
};

}  // namespace dj
