// SPDX-License-Identifier: Apache-2.0
// trace_request() looks up the requests of ptrace() that djtap makes, and what each moves between
// tracer and kernel. The broker (broker.h) carries out only the requests of this table.
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
    Peek,  // `address` leads to its arguments, the broker gets the offset; one siginfo_t is written
  };
  int request = 0;
  Data data = Data::None;
  size_t bytes = 0;
  uint64_t allowed = 0;
  bool running = false;  // djtap makes it of a thread that it has not seen stop
  bool resumes = false;  // the thread may run afterwards
};

// Returns the row of a request; null: djtap makes no such request.
const TraceRequest* trace_request(int request);

}  // namespace dj
