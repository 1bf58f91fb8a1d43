// SPDX-License-Identifier: Apache-2.0
// The requests of ptrace() that djtap makes, and what each moves between tracer and kernel: all
// that the broker (broker.h) does of ptrace stands in this table.
#pragma once
#include <cstddef>
#include <cstdint>

namespace dj {

struct TraceRequest {
  enum class Data : uint8_t {
    None,
    Options,  // a number: flags of `allowed`
    Signal,   // a number: 0 or a signal
    In,       // `bytes` are read by the kernel
    Out,      // `bytes` are written by it
    Vector,   // an iovec, of which up to `bytes` are written
    Filter,   // as many instructions of a seccomp filter as the result says are written, 8 bytes
              // each
    Peek,     // `address` leads to its arguments; one siginfo_t is written
  };
  int request = 0;
  Data data = Data::None;
  size_t bytes = 0;
  uint64_t allowed = 0;
  bool running = false;  // made of a thread that has not been seen to stand
  bool resumes = false;  // the thread may run afterwards
};

// Null: djtap makes no such request.
const TraceRequest* trace_request(int request);

}  // namespace dj
