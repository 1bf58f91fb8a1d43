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
    In,       // the kernel reads `bytes`
    Out,      // the kernel writes `bytes`
    Vector,   // an iovec, of which the kernel writes up to `bytes`
    Filter,   // the kernel writes as many instructions of a seccomp filter as the result says, 8
              // bytes each
    Peek,     // `address` leads to its arguments, of which the broker gets the offset; the kernel
              // writes one siginfo_t
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
