// SPDX-License-Identifier: Apache-2.0
// Drain takes events out of the rings, puts them in time order across CPUs, and writes them as
// text.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "compiler/diag/source.h"
#include "compiler/stages/image.h"
#include "compiler/stages/program.h"
#include "runtime/output/output.h"
#include "runtime/output/print_record.h"
#include "runtime/shared/event.h"

namespace dj {

struct DrainInput {
  const Program& program;
  const Image& image;
  const Plan& plan;
  const Sources& sources;
  const Layout& layout;
  RecordSink sink = nullptr;  // takes what handlers print; null: Drain writes it as text
  // Takes the reports of forked processes: each begins or ends.
  std::function<void(const abi::ChildPayload& child, bool begins)> child = nullptr;
};

class Drain {
 public:
  Drain(const DrainInput& input, Output& output);
  ~Drain();
  Drain(Drain&&) noexcept;

  // Writes the events that are there and returns their number. last: the target has ended or is
  // quiet, so Drain gives up unfinished records and writes everything.
  size_t run(bool last);
  // Takes records of probes that were added to the program and the plan from here on.
  void take_more();
  // Returns the time (cycle counter) up to which all events are written.
  uint64_t written_until() const;
  // Script errors reported so far.
  uint64_t errors() const;
  // Records that a killed or unwound thread has left unfinished.
  uint64_t abandoned() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dj
