// SPDX-License-Identifier: Apache-2.0
// Each call as the kernel has it, or as an order to the broker.
#include "runtime/process/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/process/broker.h"
#include "runtime/process/copy_descriptor.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/trace_requests.h"

namespace dj {
namespace {

template <class T>
bool copy_out(const Answer& answer, T* to) {
  const bool whole = answer.data.size() == sizeof *to;
  if (whole && to != nullptr) memcpy(to, answer.data.data(), sizeof *to);
  return whole;
}

long result_of(const Answer& answer) {
  errno = answer.error;
  return answer.result;
}

// What the kernel reads by a request.
std::vector<uint8_t> input_of(const TraceRequest& request, const void* data) {
  using Data = TraceRequest::Data;
  const auto number = reinterpret_cast<uint64_t>(data);
  const auto* bytes = static_cast<const uint8_t*>(data);
  if (request.data == Data::Options || request.data == Data::Signal) {
    bytes = reinterpret_cast<const uint8_t*>(&number);
    return {bytes, bytes + sizeof number};
  }
  return request.data == Data::In ? std::vector<uint8_t>(bytes, bytes + request.bytes)
                                  : std::vector<uint8_t>();
}

// What it writes.
void put_output(const TraceRequest& request, const Answer& answer, void* data) {
  using Data = TraceRequest::Data;
  if (request.data == Data::Vector) {
    auto* vector = static_cast<iovec*>(data);
    vector->iov_len = std::min(vector->iov_len, answer.data.size());
    memcpy(vector->iov_base, answer.data.data(), vector->iov_len);
  } else if (request.data >= Data::Out && data != nullptr && answer.data.size() <= request.bytes) {
    memcpy(data, answer.data.data(), answer.data.size());
  }
}

const char* name_of(ProcessFile file) {
  switch (file) {
    case ProcessFile::Memory:
      return "mem";
    case ProcessFile::Maps:
      return "maps";
    case ProcessFile::Auxiliary:
      return "auxv";
    case ProcessFile::Environment:
      return "environ";
    case ProcessFile::Program:
      return "exe";
    case ProcessFile::PidSpace:
      return "ns/pid";
  }
  return "";
}

// A process can have 65,530 mappings with paths of 4 kB.
constexpr size_t kMostText = 32 << 20;

// A view (view.h) has a /proc that cannot be written.
bool is_right_missing(int number) { return number == EPERM || number == EACCES || number == EROFS; }

// The threads that the broker has seized.
struct Brokers {
  std::mutex mutex;
  std::set<pid_t> threads;
};

Brokers& brokers() {
  static Brokers all;
  return all;
}

void set_brokers(pid_t tid, bool on) {
  const std::lock_guard lock(brokers().mutex);
  if (on)
    brokers().threads.insert(tid);
  else
    brokers().threads.erase(tid);
}

// Who has a seccomp filter is left to the broker where there is one: only root may suspend it.
bool seize_as_equal(pid_t tid, const void* options) {
  if (Broker::get() != nullptr && (is_traced_by_broker(tid) || is_confined(tid))) return false;
  return ptrace(PTRACE_SEIZE, tid, 0, options) == 0;
}

// What is in a file from its beginning; false: errno says why.
bool read_all(int fd, std::string& text) {
  char bytes[16 << 10];
  ssize_t got = 0;
  while (text.size() <= kMostText &&
         (got = pread(fd, bytes, sizeof bytes, static_cast<off_t>(text.size()))) > 0)
    text.append(bytes, static_cast<size_t>(got));
  if (text.size() > kMostText) errno = EFBIG;
  return got == 0;
}

// The maps of the process that was asked for last stay open, where a broker has to open them: it
// looks at the process each time. They show what is mapped at the time of reading, and nothing
// once the process has executed a program.
bool read_maps_again(pid_t id, std::string& text) {
  static thread_local pid_t last = 0;
  static thread_local int fd = -1;
  if (id == last && fd >= 0 && read_all(fd, text) && !text.empty()) return true;
  text.clear();
  if (fd >= 0) close(fd);
  last = id;
  fd = open_process_file(id, ProcessFile::Maps);
  return fd >= 0 && read_all(fd, text);
}

// Of a call made in bulk: the memory of the process that was asked for last stays open.
int running_memory(pid_t pid) {
  static thread_local pid_t last = 0;
  static thread_local int fd = -1;
  if (pid != last && fd >= 0) close(std::exchange(fd, -1));
  last = pid;
  if (fd < 0) fd = open_process_file(pid, ProcessFile::Memory, true);
  return fd;
}

}  // namespace

bool is_traced_by_broker(pid_t tid) {
  if (Broker::get() == nullptr) return false;
  const std::lock_guard lock(brokers().mutex);
  return brokers().threads.contains(tid);
}

long trace(int request, pid_t tid, uint64_t address, const void* data) {
  if (request != PTRACE_SEIZE && !is_traced_by_broker(tid))
    return ptrace(static_cast<__ptrace_request>(request), tid, address, data);
  if (request == PTRACE_SEIZE && seize_as_equal(tid, data)) return 0;
  const TraceRequest* known = trace_request(request);
  if (Broker::get() == nullptr || known == nullptr) return -1;
  if (known->data == TraceRequest::Data::Peek)
    address = reinterpret_cast<const __ptrace_peeksiginfo_args*>(address)->off;
  const Answer answer =
      Broker::get()->ask({Verb::Trace, tid, request, address, input_of(*known, data)});
  if (answer.result >= 0) put_output(*known, answer, const_cast<void*>(data));
  if (answer.result >= 0 && request == PTRACE_SEIZE) set_brokers(tid, true);
  if (request == PTRACE_DETACH && (answer.result >= 0 || answer.error == ESRCH))
    set_brokers(tid, false);
  return result_of(answer);
}

pid_t wait_status(pid_t tid, int* status, int options) {
  if (!is_traced_by_broker(tid)) return waitpid(tid, status, options | WNOHANG);
  const Answer answer = Broker::get()->ask({Verb::WaitStatus, tid, options, 0});
  copy_out(answer, status);
  return static_cast<pid_t>(result_of(answer));
}

int wait_info(pid_t tid, siginfo_t* info, int options) {
  if (!is_traced_by_broker(tid))
    return waitid(P_PID, static_cast<id_t>(tid), info, options | WNOHANG);
  const Answer answer = Broker::get()->ask({Verb::WaitInfo, tid, options, 0});
  copy_out(answer, info);
  return static_cast<int>(result_of(answer));
}

int signal_thread(pid_t pid, pid_t tid, int signal) {
  if (!is_traced_by_broker(tid)) return static_cast<int>(syscall(SYS_tgkill, pid, tid, signal));
  return static_cast<int>(result_of(Broker::get()->ask({Verb::Signal, tid, signal, 0})));
}

int open_process_file(pid_t id, ProcessFile file, bool writes) {
  const std::string path = "/proc/" + std::to_string(id) + "/" + name_of(file);
  const int fd = open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  Broker* broker = Broker::get();
  if (fd >= 0 || !is_right_missing(errno) || broker == nullptr) return fd;
  return broker->ask_descriptor(
      {Verb::Open, id, static_cast<int64_t>(file), writes ? uint64_t{1} : 0});
}

bool read_process_file(pid_t id, ProcessFile file, std::string& text) {
  if (file == ProcessFile::Maps && Broker::get() != nullptr) return read_maps_again(id, text);
  const int fd = open_process_file(id, file);
  if (fd < 0) return false;
  const bool whole = read_all(fd, text);
  const int number = errno;
  close(fd);
  errno = number;
  return whole;
}

bool stat_program(pid_t pid, struct stat* info, std::string* path) {
  std::string link = "/proc/" + std::to_string(pid) + "/exe";
  int fd = -1;
  if (stat(link.c_str(), info) != 0) {
    fd = is_right_missing(errno) ? open_process_file(pid, ProcessFile::Program) : -1;
    if (fd < 0) return false;
    link = "/proc/self/fd/" + std::to_string(fd);
  }
  const bool known = fd < 0 || fstat(fd, info) == 0;
  char name[PATH_MAX];
  const ssize_t length = path == nullptr ? 0 : readlink(link.c_str(), name, sizeof name);
  if (length > 0) path->assign(name, static_cast<size_t>(length));
  if (fd >= 0) close(fd);
  return known;
}

int take_descriptor(pid_t pid, pid_t tid, int fd) {
  const int own = copy_descriptor(pid, tid, fd);
  Broker* broker = Broker::get();
  if (own >= 0 || !is_right_missing(errno) || broker == nullptr) return own;
  return broker->ask_descriptor({Verb::Descriptor, tid, fd, 0});
}

bool read_running(pid_t pid, uint64_t address, void* to, size_t bytes) {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  const ssize_t done = process_vm_readv(pid, &local, 1, &remote, 1, 0);
  if (done == static_cast<ssize_t>(bytes)) return true;
  return done < 0 && is_right_missing(errno) && Broker::get() != nullptr &&
         pread(running_memory(pid), to, bytes, static_cast<off_t>(address)) ==
             static_cast<ssize_t>(bytes);
}

bool write_running(pid_t pid, uint64_t address, const void* from, size_t bytes) {
  const iovec local = {const_cast<void*>(from), bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  const ssize_t done = process_vm_writev(pid, &local, 1, &remote, 1, 0);
  if (done == static_cast<ssize_t>(bytes)) return true;
  return done < 0 && is_right_missing(errno) && Broker::get() != nullptr &&
         pwrite(running_memory(pid), from, bytes, static_cast<off_t>(address)) ==
             static_cast<ssize_t>(bytes);
}

}  // namespace dj
