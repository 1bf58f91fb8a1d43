// SPDX-License-Identifier: Apache-2.0
// One SCM_RIGHTS message on a socket pair (unix(7)), received by a borrowed thread of the target.
// In containers whose filter denies pidfd_getfd() (Docker's does) the target opens the files
// instead.
#include "runtime/process/send_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "runtime/process/os_error.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 8;
constexpr int kMostOpen = 1 << 30;  // of numbers of descriptors, sysctl_nr_open_max

// A descriptor of djtap's.
class OwnFile {
 public:
  explicit OwnFile(long fd) : fd_(static_cast<int>(fd)) {}
  OwnFile(const OwnFile&) = delete;
  ~OwnFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Raises the soft limit of open files of a process to its hard limit, for a scope.
class MoreFiles {
 public:
  explicit MoreFiles(pid_t pid) : pid_(pid) {
    rlimit most = {};
    if (prlimit(pid, RLIMIT_NOFILE, nullptr, &limit_) != 0 || limit_.rlim_cur >= limit_.rlim_max)
      return;
    most = {limit_.rlim_max, limit_.rlim_max};
    raised_ = prlimit(pid, RLIMIT_NOFILE, &most, nullptr) == 0;
  }
  MoreFiles(const MoreFiles&) = delete;
  ~MoreFiles() {
    if (raised_) prlimit(pid_, RLIMIT_NOFILE, &limit_, nullptr);
  }
  // "Too many open files", of the call `what`.
  Error too_many(const char* what) const {
    Error error = os_error(fmt::format("{} in process {}", what, pid_), EMFILE);
    error.message += fmt::format(
        " (it has as many files open as its limit lets it, {} (RLIMIT_NOFILE))", limit_.rlim_max);
    return error;
  }

 private:
  pid_t pid_;
  rlimit limit_ = {};
  bool raised_ = false;
};

// Message: what recvmsg() is given in the target, and fills in; the addresses in it are the
// target's.
struct Message {
  msghdr header;
  iovec text;
  uint64_t byte;
  alignas(cmsghdr) uint8_t control[CMSG_SPACE(kMostFiles * sizeof(int))];

  static Message at(uint64_t address) {
    Message message = {};
    message.header.msg_iov = reinterpret_cast<iovec*>(address + offsetof(Message, text));
    message.header.msg_iovlen = 1;
    message.header.msg_control = reinterpret_cast<void*>(address + offsetof(Message, control));
    message.header.msg_controllen = sizeof message.control;
    message.text = {reinterpret_cast<void*>(address + offsetof(Message, byte)), 1};
    return message;
  }
};

template <typename T>
std::span<uint8_t> bytes_of(T& value) {
  return {reinterpret_cast<uint8_t*>(&value), sizeof value};
}

Error interfered(pid_t pid, const char* what) {
  return Error{fmt::format("cannot share memory with process {}: {}", pid, what), Fail::Permission};
}

bool is_descriptor(int64_t number) { return number >= 0 && number < kMostOpen; }

// Is it one end of a pair that the process itself has made?
bool is_pair_of(int fd, pid_t pid) {
  const auto option = [fd](int name, auto& value) {
    socklen_t bytes = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &bytes) == 0 && bytes == sizeof value;
  };
  int domain = 0, type = 0;
  ucred peer = {};
  return option(SO_DOMAIN, domain) && domain == AF_UNIX && option(SO_TYPE, type) &&
         type == SOCK_SEQPACKET && option(SO_PEERCRED, peer) && peer.pid == pid;
}

Result<int> take(RemoteCall& call, int number) {
  const pid_t pid = call.stopped().pid();
  const int taken = take_descriptor(pid, call.tid(), number);
  if (taken < 0) return os_error(fmt::format("cannot share memory with process {}", pid));
  return taken;
}

Status send(int socket, pid_t pid, std::span<const int> files) {
  Message message = {};
  message.header = Message::at(reinterpret_cast<uint64_t>(&message)).header;
  message.text = {&message.byte, 1};
  message.header.msg_controllen = CMSG_SPACE(files.size_bytes());
  cmsghdr* rights = CMSG_FIRSTHDR(&message.header);
  *rights = {CMSG_LEN(files.size_bytes()), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(rights), files.data(), files.size_bytes());
  if (sendmsg(socket, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) return ok_status();
  return os_error(fmt::format("cannot share memory with process {}", pid));
}

// The numbers that the message has got in the target.
Result<std::vector<uint64_t>> receive(RemoteCall& call, uint64_t socket, size_t count,
                                      const MoreFiles& more) {
  const pid_t pid = call.stopped().pid();
  DJ_TRY(uint64_t page, call.scratch());
  Message message = Message::at(page);
  DJ_TRY_DO(call.stopped().write(page, bytes_of(message)));
  DJ_TRY_DO(call.checked("recvmsg", SYS_recvmsg, {socket, page, MSG_DONTWAIT | MSG_CMSG_CLOEXEC}));
  DJ_TRY_DO(call.stopped().read(page, bytes_of(message)));
  const auto* rights = reinterpret_cast<const cmsghdr*>(message.control);
  const size_t bytes = count * sizeof(int);
  if ((message.header.msg_flags & MSG_CTRUNC) != 0) return more.too_many("recvmsg");
  if (rights->cmsg_len != CMSG_LEN(bytes) || rights->cmsg_type != SCM_RIGHTS)
    return interfered(pid, "it has got another message");
  std::vector<int> numbers(count);
  memcpy(numbers.data(), CMSG_DATA(rights), bytes);
  if (!std::ranges::all_of(numbers, is_descriptor))
    return interfered(pid, "it has got another message");
  return std::vector<uint64_t>(numbers.begin(), numbers.end());
}

// Both ends in the target; closed by the caller.
Result<std::pair<int, int>> make_pair_in(RemoteCall& call, const MoreFiles& more) {
  DJ_TRY(uint64_t page, call.scratch());
  const uint64_t type = SOCK_SEQPACKET | SOCK_CLOEXEC;
  DJ_TRY(int64_t made, call.syscall(SYS_socketpair, {AF_UNIX, type, 0, page}));
  if (made == -EMFILE) return more.too_many("socketpair");
  const pid_t pid = call.stopped().pid();
  if (made != 0)
    return os_error(fmt::format("socketpair in process {}", pid), static_cast<int>(-made));
  int ends[2] = {};
  DJ_TRY_DO(call.stopped().read(page, bytes_of(ends)));
  if (!is_descriptor(ends[0]) || !is_descriptor(ends[1]))
    return interfered(pid, "its memory changes");
  return std::pair(ends[0], ends[1]);
}

// To the end `theirs`, by the other one, which djtap has taken; closes that.
Result<std::vector<uint64_t>> send_through(RemoteCall& call, int taken, int theirs,
                                           std::span<const int> files, const MoreFiles& more) {
  const pid_t pid = call.stopped().pid();
  const OwnFile socket(taken);
  if (!is_pair_of(socket.fd(), pid)) return interfered(pid, "its descriptors change");
  DJ_TRY_DO(send(socket.fd(), pid, files));
  return receive(call, static_cast<uint64_t>(theirs), files.size(), more);
}

// Lets the target open djtap's files by their names in /proc, which a target without rights over
// djtap may not, nor one in another pid namespace: then it fails with `why`.
Result<std::vector<uint64_t>> open_there(RemoteCall& call, std::span<const int> files,
                                         const Error& why) {
  DJ_TRY(const uint64_t page, call.scratch());
  std::vector<uint64_t> numbers;
  int64_t number = 0;
  for (size_t i = 0; i < files.size() && is_descriptor(number); i++) {
    const std::string path = name_of_file(files[i]);
    const auto* bytes = reinterpret_cast<const uint8_t*>(path.c_str());
    DJ_TRY_DO(call.stopped().write(page, {bytes, path.size() + 1}));
    const uint64_t in_no_folder = static_cast<uint64_t>(AT_FDCWD);
    DJ_TRY(number, call.syscall(SYS_openat, {in_no_folder, page, O_RDWR | O_CLOEXEC}));
    if (is_descriptor(number)) numbers.push_back(static_cast<uint64_t>(number));
  }
  if (numbers.size() == files.size()) return numbers;
  DJ_TRY_DO(close_in(call, numbers));
  return why;
}

// Kernels before 5.9 have no close_range().
Status close_run(RemoteCall& call, uint64_t first, uint64_t last) {
  if (first != last) {
    DJ_TRY(const int64_t closed, call.syscall(SYS_close_range, {first, last, 0}));
    if (closed == 0) return ok_status();
  }
  for (uint64_t number = first; number <= last; number++)
    DJ_TRY_DO(call.syscall(SYS_close, {number}));
  return ok_status();
}

}  // namespace

Result<SentFiles> send_files(RemoteCall& call, std::span<const int> files) {
  CHECK(files.size() <= kMostFiles);
  const MoreFiles more(call.stopped().pid());
  DJ_TRY(const auto ends, make_pair_in(call, more));
  const Result<int> taken = take(call, ends.first);
  Result<std::vector<uint64_t>> numbers =
      taken.ok() ? send_through(call, taken.value(), ends.second, files, more)
                 : open_there(call, files, taken.error());
  std::vector<uint64_t> sockets = {static_cast<uint64_t>(ends.first),
                                   static_cast<uint64_t>(ends.second)};
  if (numbers.ok()) return SentFiles{numbers.take(), std::move(sockets)};
  DJ_TRY_DO(close_in(call, std::move(sockets)));
  return numbers.error();
}

std::optional<uint64_t> next_descriptor(int pid) {
  constexpr uint64_t kFew = 8;  // most programs begin with three or four
  for (uint64_t number = 0; number < kFew; ++number) {
    struct stat link = {};
    if (lstat(fmt::format("/proc/{}/fd/{}", pid, number).c_str(), &link) == 0) continue;
    if (errno == ENOENT) return number;
    break;
  }
  std::error_code error;
  std::set<uint64_t> open;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fmt::format("/proc/{}/fd", pid), error))
    open.insert(strtoull(entry.path().filename().c_str(), nullptr, 10));
  if (error) return std::nullopt;
  uint64_t next = 0;
  while (open.contains(next)) ++next;
  return next;
}

std::string name_of_file(int fd) { return fmt::format("/proc/{}/fd/{}", getpid(), fd); }

Status close_in(RemoteCall& call, std::vector<uint64_t> numbers) {
  std::ranges::sort(numbers);
  for (auto begin = numbers.begin(); begin != numbers.end();) {
    auto end = begin + 1;
    while (end != numbers.end() && *end == *(end - 1) + 1) ++end;
    DJ_TRY_DO(close_run(call, *begin, *(end - 1)));
    begin = end;
  }
  return ok_status();
}

}  // namespace dj
