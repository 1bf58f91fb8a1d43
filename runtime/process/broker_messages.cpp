// SPDX-License-Identifier: Apache-2.0
// A fixed head, then data; a descriptor rides along (SCM_RIGHTS).
#include "runtime/process/broker_messages.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace dj {
namespace {

struct OrderHead {
  uint32_t verb;
  int32_t id;
  int64_t number;
  uint64_t address;
};

struct AnswerHead {
  int64_t result;
  int32_t error, has_fd;
};

bool send_parts(int socket, const void* head, size_t head_bytes, const std::vector<uint8_t>& data,
                int fd) {
  iovec parts[] = {{const_cast<void*>(head), head_bytes},
                   {const_cast<uint8_t*>(data.data()), data.size()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rider = CMSG_FIRSTHDR(&message);
    rider->cmsg_level = SOL_SOCKET;
    rider->cmsg_type = SCM_RIGHTS;
    rider->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(rider), &fd, sizeof fd);
  }
  ssize_t sent = 0;
  while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return sent == static_cast<ssize_t>(head_bytes + data.size());
}

bool receive_parts(int socket, void* head, size_t head_bytes, std::vector<uint8_t>& data, int& fd) {
  // No thread_local object: its first use would wait while LLVM is loaded (dl_load_lock).
  const auto room = std::make_unique_for_overwrite<uint8_t[]>(kMostData);
  iovec parts[] = {{head, head_bytes}, {room.get(), kMostData}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got < static_cast<ssize_t>(head_bytes) || (message.msg_flags & MSG_TRUNC) != 0) return false;
  data.assign(room.get(), room.get() + (got - static_cast<ssize_t>(head_bytes)));
  const cmsghdr* rider = CMSG_FIRSTHDR(&message);
  if (rider != nullptr && rider->cmsg_type == SCM_RIGHTS)
    std::memcpy(&fd, CMSG_DATA(rider), sizeof fd);
  return true;
}

}  // namespace

bool send(int socket, const Order& order) {
  const OrderHead head = {static_cast<uint32_t>(order.verb), order.id, order.number, order.address};
  return send_parts(socket, &head, sizeof head, order.data, -1);
}

bool send(int socket, const Answer& answer) {
  const AnswerHead head = {answer.result, answer.error, answer.fd >= 0 ? 1 : 0};
  return send_parts(socket, &head, sizeof head, answer.data, answer.fd);
}

bool receive(int socket, Order& order) {
  OrderHead head = {};
  int fd = -1;
  if (!receive_parts(socket, &head, sizeof head, order.data, fd)) return false;
  order.verb = static_cast<Verb>(head.verb);
  order.id = head.id;
  order.number = head.number;
  order.address = head.address;
  return fd < 0;
}

bool receive(int socket, Answer& answer) {
  AnswerHead head = {};
  if (!receive_parts(socket, &head, sizeof head, answer.data, answer.fd)) return false;
  answer.result = head.result;
  answer.error = head.error;
  return (answer.fd >= 0) == (head.has_fd != 0);
}

}  // namespace dj
