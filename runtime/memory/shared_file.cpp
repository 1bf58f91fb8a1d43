// SPDX-License-Identifier: Apache-2.0
// memfd_create(2), and the seals of fcntl(2).
#include "runtime/memory/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "runtime/process/os_error.h"

namespace dj {
namespace {

constexpr char kWhat[] = "cannot make the memory that the target shares";

Error no_room(uint64_t bytes, int number) {
  Error error = os_error(kWhat, number);
  if (number == EFBIG)
    error.message += " (djtap itself may not make a file of " + std::to_string(bytes / 1024) +
                     " kB: RLIMIT_FSIZE, ulimit -f)";
  return error;
}

}  // namespace

Result<SharedFile> SharedFile::make(const std::string& name, uint64_t bytes, Use use, uint64_t at) {
  SharedFile file;
  file.fd_ = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  struct stat info = {};
  if (file.fd_ < 0 || fstat(file.fd_, &info) != 0) return os_error(kWhat);
  file.device_ = info.st_dev, file.inode_ = info.st_ino;
  if (ftruncate(file.fd_, static_cast<off_t>(bytes)) != 0) return no_room(bytes, errno);
  void* const wanted = reinterpret_cast<void*>(at);
  void* const mine = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | (at != 0 ? MAP_FIXED_NOREPLACE : 0), file.fd_, 0);
  if (mine == MAP_FAILED) return os_error(kWhat);
  file.view_ = {static_cast<uint8_t*>(mine), bytes};
  if (at != 0 && mine != wanted) return os_error(kWhat, EEXIST);
  // The view stays writable, as the last mapping of what targets only read.
  const int for_all = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  const int seals = use == Use::Read ? for_all | F_SEAL_FUTURE_WRITE : for_all;
  if (fcntl(file.fd_, F_ADD_SEALS, seals) != 0) return os_error(kWhat);
  return file;
}

bool SharedFile::show_at(std::span<uint8_t> place) const {
  return mmap(place.data(), place.size(), PROT_READ, MAP_SHARED | MAP_FIXED, fd_, 0) ==
         place.data();
}

SharedFile::SharedFile(SharedFile&& other) noexcept { *this = std::move(other); }

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  std::swap(view_, other.view_);
  return *this;
}

SharedFile::~SharedFile() {
  if (!view_.empty()) munmap(view_.data(), view_.size());
  if (fd_ >= 0) close(fd_);
}

}  // namespace dj
