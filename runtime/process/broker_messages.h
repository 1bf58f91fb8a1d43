// SPDX-License-Identifier: Apache-2.0
// Order and Answer are the messages between a djtap without rights and its broker (broker.h): each
// is one message of a socket pair. An order has a verb of this list and numbers; the broker trusts
// none of the numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dj {

enum class Verb : uint32_t {
  NextOutput,  // gives a descriptor
  Listen,      // gives a descriptor
  Read,        // file `number` of OwnPaths::read; gives a descriptor
  Trace,       // ptrace(number, id, address, data)
  WaitStatus,  // waitpid(id, &status, number); data: the status
  WaitInfo,    // waitid(P_PID, id, &info, number); data: the info
  Open,        // /proc/ID/ the ProcessFile `number`, for writing if `address` is not 0; gives a
               // descriptor
  Descriptor,  // descriptor `number` of process `id`: pidfd_getfd(); gives a descriptor
  Signal,      // tgkill(its process, id, number)
};

enum class ProcessFile : uint32_t { Memory, Maps, Auxiliary, Environment, Program, PidSpace };

struct Order {
  Verb verb = Verb::NextOutput;
  int32_t id = 0;  // process or thread
  int64_t number = 0;
  uint64_t address = 0;
  std::vector<uint8_t> data = {};  // what the request passes to the kernel
};

struct Answer {
  int64_t result = -1;
  int32_t error = 0;  // errno, if the result is negative
  int fd = -1;        // the receiver of the answer owns it
  std::vector<uint8_t> data;
};

constexpr size_t kMostData = 80 << 10;  // a thread's vector state takes up to 64 KiB

// Sends a message; false: the other side has ended.
bool send(int socket, const Order& order);
bool send(int socket, const Answer& answer);
// Receives a message; false: the other side has ended, or what came is no such message.
bool receive(int socket, Order& order);
bool receive(int socket, Answer& answer);

}  // namespace dj
