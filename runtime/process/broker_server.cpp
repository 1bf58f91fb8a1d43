// SPDX-License-Identifier: Apache-2.0
// One order after the other, each checked against what the broker was started for.
#include "runtime/process/broker_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "runtime/process/broker_messages.h"
#include "runtime/process/copy_descriptor.h"
#include "runtime/process/served.h"
#include "runtime/process/trace_requests.h"

namespace dj {
namespace {

Answer failed(int number) { return {-1, number, -1, {}}; }

Answer descriptor(int fd) { return fd < 0 ? failed(errno) : Answer{0, 0, fd, {}}; }

Answer descriptor(const Result<int>& opened) {
  if (opened.ok()) return descriptor(opened.value());
  Answer answer = failed(errno != 0 ? errno : EACCES);
  const std::string why = opened.error().message.substr(0, kMostData);
  answer.data.assign(why.begin(), why.end());
  return answer;
}

class Server {
 public:
  explicit Server(const Charge& charge)
      : files_(charge.files), served_(charge.target, charge.pidfd, charge.rights) {}
  ~Server() {
    if (listens_) unlink(files_.paths().control.c_str());
  }

  Answer carry_out(const Order& order) {
    if (order.verb >= Verb::Trace && order.id <= 0) return failed(EPERM);
    switch (order.verb) {
      case Verb::NextOutput:
        return files_.paths().output.empty() ? failed(EPERM) : descriptor(files_.next_output());
      case Verb::Listen:
        return listen();
      case Verb::Read:
        return descriptor(files_.open_read(std::string(order.data.begin(), order.data.end())));
      case Verb::Trace:
        return trace(order);
      case Verb::WaitStatus:
      case Verb::WaitInfo:
        return wait(order);
      case Verb::Open:
        return open_file(order);
      case Verb::Descriptor:
        return take_descriptor(order);
      case Verb::Signal:
        return signal(order);
    }
    return failed(EPERM);
  }

 private:
  Answer listen() {
    if (listens_ || files_.paths().control.empty()) return failed(EPERM);
    Answer answer = descriptor(listen_at(files_.paths().control));
    listens_ = answer.fd >= 0;
    return answer;
  }

  // A thread is touched while it stands and has been looked at since it stopped: what executes a
  // program that has more rights has to run for that. But a thread that runs may execute one for
  // the whole process, and has the first thread's number then. So where not all stand, the process
  // is looked at again behind the request, and a program with more rights whose registers were
  // changed is ended before it runs.
  Answer trace(const Order& order) {
    const TraceRequest* request = trace_request(static_cast<int>(order.number));
    if (request == nullptr) return failed(EPERM);
    if (request->request == PTRACE_SEIZE) return seize(*request, order);
    if (!request->running && !standing_.contains(order.id)) return failed(ESRCH);
    Answer answer = ask_kernel(*request, order);
    if (answer.result < 0 || request->running) return answer;
    if (request->resumes) {
      standing_.erase(order.id);
      if (request->request == PTRACE_DETACH) seized_.erase(order.id);
    } else if (!all_stand() && served_.process_of(order.id) == 0) {
      const bool changed =
          request->data == TraceRequest::Data::In || request->data == TraceRequest::Data::Options;
      if (changed) kill(order.id, SIGKILL);
      return failed(ESRCH);
    }
    return answer;
  }

  bool all_stand() const { return !has_lost_ && seized_ == standing_; }

  Answer seize(const TraceRequest& request, const Order& order) {
    if (served_.process_of(order.id) == 0) return failed(EPERM);
    Answer answer = ask_kernel(request, order);
    if (answer.result < 0) return answer;
    standing_.erase(order.id);
    seized_.insert(order.id);
    if (served_.process_of(order.id) != 0) return answer;
    let_go(order.id);
    return failed(EPERM);
  }

  static Answer ask_kernel(const TraceRequest& request, const Order& order) {
    using Data = TraceRequest::Data;
    Answer answer;
    uint64_t address = order.address, data = 0;
    if (order.data.size() < sizeof data && request.data <= Data::Signal &&
        request.data != Data::None)
      return failed(EINVAL);
    if (request.data == Data::Options || request.data == Data::Signal) {
      memcpy(&data, order.data.data(), sizeof data);
      const bool good = request.data == Data::Options ? (data & ~request.allowed) == 0
                                                      : data <= static_cast<uint64_t>(SIGRTMAX);
      if (!good) return failed(EPERM);
    }
    std::vector<uint8_t> bytes = order.data;
    if (request.data == Data::In && bytes.size() != request.bytes) return failed(EINVAL);
    if (request.data == Data::Out && address > request.bytes)
      return failed(EINVAL);  // where it counts bytes
    if (request.data >= Data::Out) bytes.assign(request.bytes, 0);
    iovec vector = {bytes.data(), bytes.size()};
    __ptrace_peeksiginfo_args one = {order.address, 0, 1};
    if (request.data == Data::Peek) address = reinterpret_cast<uint64_t>(&one);
    if (request.data == Data::Vector)
      data = reinterpret_cast<uint64_t>(&vector);
    else if (request.data >= Data::In)
      data = reinterpret_cast<uint64_t>(bytes.data());
    errno = 0;
    answer.result = ptrace(static_cast<__ptrace_request>(request.request), order.id, address, data);
    answer.error = errno;
    if (request.data == Data::Vector) bytes.resize(vector.iov_len);
    if (request.data == Data::Filter)
      bytes.resize(std::min<size_t>(bytes.size(),
                                    8 * static_cast<size_t>(std::max(answer.result, int64_t{0}))));
    if (request.data >= Data::Out) answer.data = std::move(bytes);
    return answer;
  }

  // What is said of a thread that got more rights is not said to the worker.
  Answer wait(const Order& order) {
    constexpr int kAllowed = WEXITED | WSTOPPED | WNOWAIT | __WALL;
    const int how = (static_cast<int>(order.number) & kAllowed) | WNOHANG;
    const bool is_seen = (how & WNOWAIT) == 0;
    Answer answer;
    siginfo_t info = {};
    int status = 0;
    bool stands = false;
    errno = 0;
    if (order.verb == Verb::WaitInfo) {
      answer.result = waitid(P_PID, static_cast<id_t>(order.id), &info, how);
      stands = answer.result == 0 && info.si_pid != 0 &&
               (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED);
      answer.data.assign(reinterpret_cast<uint8_t*>(&info), reinterpret_cast<uint8_t*>(&info + 1));
    } else {
      answer.result = waitpid(order.id, &status, (how & __WALL) | WNOHANG);
      stands = answer.result > 0 && WIFSTOPPED(status);
      answer.data.assign(reinterpret_cast<uint8_t*>(&status),
                         reinterpret_cast<uint8_t*>(&status + 1));
    }
    answer.error = errno;
    const bool is_over =
        answer.result < 0 || (order.verb == Verb::WaitInfo ? info.si_pid != 0 : answer.result > 0);
    if (!stands && is_seen && is_over) lose(order.id);
    if (!stands || !is_seen) return answer;
    if (served_.process_of(order.id) == 0) {
      let_go(order.id);
      return failed(ECHILD);
    }
    standing_.insert(order.id);
    return answer;
  }

  // It has ended, or another thread has its number.
  void lose(pid_t id) {
    has_lost_ = has_lost_ || seized_.contains(id);
    seized_.erase(id);
    standing_.erase(id);
  }

  // Of a thread that must not be traced. One that does not stop in time is let go of when the
  // broker ends.
  void let_go(pid_t id) {
    constexpr int kRounds = 200;
    lose(id);
    if (ptrace(PTRACE_DETACH, id, 0, 0) == 0) return;
    ptrace(PTRACE_INTERRUPT, id, 0, 0);
    for (int round = 0; round < kRounds; ++round) {
      int status = 0;
      const pid_t got = waitpid(id, &status, __WALL | WNOHANG);
      const bool is_signal = (status >> 16) == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80);
      if (got == id && WIFSTOPPED(status))
        ptrace(PTRACE_DETACH, id, 0, is_signal ? WSTOPSIG(status) : 0);
      if (got != 0) return;
      usleep(100);
    }
  }

  Answer open_file(const Order& order) {
    constexpr struct {
      const char* name;
      int flags;
    } kFiles[] = {{"mem", O_RDONLY},     {"maps", O_RDONLY}, {"auxv", O_RDONLY},
                  {"environ", O_RDONLY}, {"exe", O_RDONLY},  {"ns/pid", O_RDONLY}};
    if (order.number < 0 || order.number >= static_cast<int64_t>(std::size(kFiles)))
      return failed(EPERM);
    const bool writes = order.address != 0;
    if (writes && static_cast<ProcessFile>(order.number) != ProcessFile::Memory)
      return failed(EPERM);
    const std::string path = "/proc/" + std::to_string(order.id) + "/" + kFiles[order.number].name;
    if (served_.process_of(order.id) == 0) return failed(EPERM);
    Answer answer =
        descriptor(open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    return checked(order.id, answer);
  }

  Answer take_descriptor(const Order& order) {
    const pid_t pid = served_.process_of(order.id);
    if (pid == 0) return failed(EPERM);
    return checked(order.id,
                   descriptor(copy_descriptor(pid, order.id, static_cast<int>(order.number))));
  }

  // It may have become another program while it was opened.
  Answer checked(pid_t id, Answer answer) {
    if (answer.fd < 0 || served_.process_of(id) != 0) return answer;
    close(answer.fd);
    return failed(EPERM);
  }

  Answer signal(const Order& order) {
    const pid_t pid = served_.process_of(order.id);
    if (pid == 0) return failed(EPERM);
    const long sent = syscall(SYS_tgkill, pid, order.id, static_cast<int>(order.number));
    return sent == 0 ? Answer{0, 0, -1, {}} : failed(errno);
  }

  OwnFiles files_;
  Served served_;
  std::set<pid_t> seized_, standing_;  // threads; the latter are some of the former
  bool has_lost_ = false;              // one of the former has ended while it was traced
  bool listens_ = false;
};

}  // namespace

// What a terminal sends to all of djtap is the worker's to take.
int serve_orders(int socket, const Charge& charge) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  prctl(PR_SET_NAME, "djtap-broker");
  prctl(PR_SET_DUMPABLE, 0);
  Server server(charge);
  for (Order order; receive(socket, order);) {
    errno = 0;
    const Answer answer = server.carry_out(order);
    if (!send(socket, answer)) break;
    if (answer.fd >= 0) close(answer.fd);
  }
  return 0;
}

}  // namespace dj
