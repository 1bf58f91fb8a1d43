// SPDX-License-Identifier: Apache-2.0
// Memory of a stopped process: through /proc/PID/mem, which reads and writes what the program may
// not; many ranges at once by process_vm_readv.
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>

#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/stopped.h"
#include "runtime/process/tracer.h"

namespace dj {

Status Stopped::open_memory() {
  mem_ = open_process_file(threads_.begin()->first, ProcessFile::Memory, true);
  if (mem_ < 0) {
    return os_error("cannot open the memory of process " + std::to_string(pid_));
  }
  return ok_status();
}

Result<std::vector<Mapping>> Stopped::maps() const {
  if (!is_fresh_) return read_maps(pid_);
  if (!maps_) {
    DJ_TRY(maps_, read_maps(pid_));
  }
  return *maps_;
}

Status Stopped::read(uint64_t address, std::span<uint8_t> bytes) const {
  ssize_t got = pread(mem_, bytes.data(), bytes.size(), static_cast<off_t>(address));
  if (got != static_cast<ssize_t>(bytes.size())) {
    return os_error("cannot read memory of process " + std::to_string(pid_),
                    got < 0 ? errno : EFAULT);
  }
  return ok_status();
}

Status Stopped::write(uint64_t address, std::span<const uint8_t> bytes) const {
  ssize_t put = pwrite(mem_, bytes.data(), bytes.size(), static_cast<off_t>(address));
  if (put != static_cast<ssize_t>(bytes.size())) {
    return os_error("cannot write memory of process " + std::to_string(pid_),
                    put < 0 ? errno : EFAULT);
  }
  return ok_status();
}

size_t Stopped::read_ranges(std::span<const AddressRange> ranges, uint8_t* bytes) const {
  const pid_t tid = threads().front();  // the first thread may have ended before others
  std::vector<iovec> remote;
  size_t wanted = 0;
  for (const AddressRange& range : ranges) {
    remote.push_back({reinterpret_cast<void*>(range.begin), range.end - range.begin});
    wanted += range.end - range.begin;
  }
  const iovec local = {bytes, wanted};
  const ssize_t got = process_vm_readv(tid, &local, 1, remote.data(), remote.size(), 0);
  size_t left = got < 0 ? 0 : static_cast<size_t>(got), whole = 0;
  for (; whole < ranges.size() && left >= remote[whole].iov_len; whole++)
    left -= remote[whole].iov_len;
  return whole;
}

}  // namespace dj
