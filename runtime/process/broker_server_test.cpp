// SPDX-License-Identifier: Apache-2.0
// The broker obeys orders for its own target alone, whatever a worker asks that somebody has taken
// over.
#include "runtime/process/broker_server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "runtime/process/broker_messages.h"
#include "runtime/process/rights.h"
#include "runtime/process/trace_requests.h"

namespace dj {
namespace {

// A child that sleeps until its parent is gone.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  std::string status(const std::string& key) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(key + ":\t")) return line.substr(key.size() + 2);
    }
    return "";
  }

 private:
  pid_t pid_;
};

// A broker for `target`, with no files of the user's.
class Served {
 public:
  explicit Served(pid_t target) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const Charge charge = {target, static_cast<int>(syscall(SYS_pidfd_open, target, 0)),
                           rights_of(target).value(), OwnPaths{}};
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      _exit(serve_orders(ends[1], charge));
    }
    close(ends[1]);
    close(charge.pidfd);
    socket_ = ends[0];
  }
  ~Served() {
    close(socket_);
    int status = -1;
    waitpid(pid_, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int socket() const { return socket_; }
  // Closes the descriptor of an answer; `fd` of the answer is 0 then.
  Answer ask(const Order& order) const {
    Answer answer;
    EXPECT_TRUE(send(socket_, order) && receive(socket_, answer))
        << static_cast<int>(order.verb) << " " << order.id << " " << order.number << " "
        << order.address << " " << order.data.size() << " " << strerror(errno);
    if (answer.fd >= 0) close(answer.fd), answer.fd = 0;
    return answer;
  }

 private:
  int socket_ = -1;
  pid_t pid_ = 0;
};

bool is_refused(const Answer& answer) { return answer.result < 0 && answer.fd < 0; }

Order trace_order(pid_t id, int request, uint64_t address = 0, uint64_t data = 0) {
  Order order = {Verb::Trace, id, request, address};
  const auto* bytes = reinterpret_cast<const uint8_t*>(&data);
  order.data.assign(bytes, bytes + sizeof data);
  return order;
}

TEST(BrokerServer, TracesItsCharge) {
  const Child target;
  const Served broker(target.pid());
  EXPECT_EQ(broker.ask(trace_order(target.pid(), PTRACE_SEIZE)).result, 0);
  EXPECT_EQ(broker.ask({Verb::Open, target.pid(), 0, 1}).fd, 0);
  EXPECT_NE(target.status("TracerPid"), "0");
}

TEST(BrokerServer, ShowsTheSignalThatIsAskedFor) {
  const Child target;
  const Served broker(target.pid());
  ASSERT_EQ(broker.ask(trace_order(target.pid(), PTRACE_SEIZE)).result, 0);
  ASSERT_EQ(broker.ask(trace_order(target.pid(), PTRACE_INTERRUPT)).result, 0);
  while (broker.ask({Verb::WaitStatus, target.pid(), __WALL, 0}).result == 0) usleep(100);
  for (const int signal : {SIGUSR1, SIGUSR2})
    ASSERT_EQ(broker.ask({Verb::Signal, target.pid(), signal, 0}).result, 0);
  for (const auto& [at, signal] : {std::pair(0, SIGUSR1), {1, SIGUSR2}}) {
    const Answer answer = broker.ask(trace_order(target.pid(), PTRACE_PEEKSIGINFO, at));
    siginfo_t info = {};
    ASSERT_EQ(answer.result, 1);
    ASSERT_EQ(answer.data.size(), sizeof info);
    memcpy(&info, answer.data.data(), sizeof info);
    EXPECT_EQ(info.si_signo, signal);
  }
  EXPECT_EQ(broker.ask(trace_order(target.pid(), PTRACE_PEEKSIGINFO, 2)).result, 0);
}

TEST(BrokerServer, TouchesNobodyElse) {
  const Child target, other;
  const Served broker(target.pid());
  for (const pid_t id : {other.pid(), getpid(), pid_t{1}, pid_t{0}, pid_t{-1}, -target.pid()}) {
    EXPECT_TRUE(is_refused(broker.ask(trace_order(id, PTRACE_SEIZE)))) << id;
    for (int64_t file = 0; file < 8; ++file) {
      EXPECT_TRUE(is_refused(broker.ask({Verb::Open, id, file, 0}))) << id << " " << file;
      EXPECT_TRUE(is_refused(broker.ask({Verb::Open, id, file, 1}))) << id << " " << file;
    }
    EXPECT_TRUE(is_refused(broker.ask({Verb::Descriptor, id, 0, 0}))) << id;
    EXPECT_TRUE(is_refused(broker.ask({Verb::Signal, id, SIGKILL, 0}))) << id;
  }
  EXPECT_EQ(other.status("TracerPid"), "0");
}

TEST(BrokerServer, MakesNoOtherRequests) {
  const Child target;
  const Served broker(target.pid());
  ASSERT_EQ(broker.ask(trace_order(target.pid(), PTRACE_SEIZE)).result, 0);
  for (int request = -1; request < 0x4300; ++request) {
    if (trace_request(request) != nullptr) continue;
    ASSERT_TRUE(is_refused(broker.ask(trace_order(target.pid(), request)))) << request;
  }
}

TEST(BrokerServer, GivesNoFilesThatWereNotNamed) {
  const Child target;
  const Served broker(target.pid());
  const std::string path = "/etc/passwd";
  const std::vector<uint8_t> name(path.begin(), path.end());
  EXPECT_TRUE(is_refused(broker.ask({Verb::Read, 0, 0, 0, name})));
  EXPECT_TRUE(is_refused(broker.ask({Verb::NextOutput, 0, 0, 0})));
  EXPECT_TRUE(is_refused(broker.ask({Verb::Listen, 0, 0, 0, name})));
  // Only its memory is opened for writing, and no files but these.
  for (const int64_t file : {-1, 1, 2, 3, 4, 5, 6, 1000})
    EXPECT_TRUE(is_refused(broker.ask({Verb::Open, target.pid(), file, 1}))) << file;
  EXPECT_TRUE(is_refused(broker.ask({static_cast<Verb>(9), target.pid(), 0, 0})));
  EXPECT_TRUE(is_refused(broker.ask({static_cast<Verb>(UINT32_MAX), target.pid(), 0, 0})));
}

TEST(BrokerServer, LeavesNoOptionBehind) {
  const Child target;
  const Served broker(target.pid());
  EXPECT_TRUE(is_refused(broker.ask(trace_order(target.pid(), PTRACE_SEIZE, 0, PTRACE_O_EXITKILL))));
  EXPECT_TRUE(is_refused(broker.ask(trace_order(target.pid(), PTRACE_SEIZE, 0, PTRACE_O_TRACEEXEC))));
  ASSERT_EQ(broker.ask(trace_order(target.pid(), PTRACE_SEIZE)).result, 0);
  EXPECT_TRUE(is_refused(
      broker.ask(trace_order(target.pid(), PTRACE_SETOPTIONS, 0, PTRACE_O_TRACECLONE))));
}

// Messages of any length and content: it answers or ends, and its charge's neighbour is as it was.
TEST(BrokerServer, AnyOrders) {
  constexpr int kOrders = 20'000;
  std::mt19937_64 random(25);
  const Child other;
  for (int sent = 0; sent < kOrders;) {
    const Child target;
    const Served broker(target.pid());
    const pid_t ids[] = {target.pid(), target.pid(), other.pid(), getpid(), 1, 0, -1};
    for (int i = 0; i < 500; ++i, ++sent) {
      Order order = {static_cast<Verb>(random() % 10), ids[random() % std::size(ids)],
                     static_cast<int64_t>(random() % 2 ? random() % 32 : 0x4200 + random() % 32),
                     random() % 3 ? random() % 4 : random(), {}};
      // Not what would end the target, or wait: the rest of the round would try nothing.
      if (order.verb == Verb::Signal) order.number = SIGURG;
      order.data.resize(random() % 4 ? 8 * (random() % 64) : random() % kMostData);
      for (uint8_t& byte : order.data) byte = static_cast<uint8_t>(random() % 3 ? 0 : random());
      const Answer answer = broker.ask(order);
      const bool is_others = order.verb >= Verb::Trace && order.id != target.pid();
      ASSERT_TRUE(!is_others || is_refused(answer)) << static_cast<int>(order.verb) << order.id;
    }
    ASSERT_EQ(other.status("TracerPid"), "0");
  }
}

TEST(BrokerServer, NoOrders) {
  for (const size_t bytes : {0, 1, 31, 32, 33, 4096}) {
    const Child target;
    const Served broker(target.pid());
    const std::string garbage(bytes, '\xff');
    ASSERT_EQ(::send(broker.socket(), garbage.data(), garbage.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes));
  }
}

}  // namespace
}  // namespace dj
