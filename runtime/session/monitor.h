// SPDX-License-Identifier: Apache-2.0
// Monitor is --monitor, the session on a terminal. It shows probes with hits and cost, globals, and
// what handlers printed last. Keys switch probes, sort and end the session.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/diag/source.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/timed_probes.h"
#include "runtime/output/terminal.h"
#include "runtime/session/session.h"
#include "runtime/shared/stat.h"

namespace dj {

struct MonitorInput {
  const Program& program;
  const Plan& plan;
  const Sources& sources;
  const Layout& layout;
  const TimedProbes& timed;
};

class Monitor {
 public:
  // Takes the terminal; the Monitor's end gives it back.
  static Result<std::unique_ptr<Monitor>> open(const MonitorInput& input);
  Monitor(const MonitorInput& input, Terminal terminal);

  // Draws the screen, twice a second, and obeys the keys pressed. Call it every loop iteration.
  void run(Session& session);
  // Adds text that a handler has printed.
  void add_output(std::string_view text);
  bool quit() const { return quit_; }

 private:
  struct Row;
  std::vector<Row> rows() const;
  size_t place_of_cursor(const std::vector<Row>& rows) const;
  std::pair<size_t, size_t> window(const std::vector<Row>& rows) const;
  std::string screen(double seconds) const;
  std::string busiest_processes() const;
  std::string globals_and_output(int64_t above) const;
  void reset();
  void obey(Session& session, std::string_view keys);
  void move_cursor(int down);
  void switch_probe(Session& session, ProbeId probe);

  MonitorInput input_;
  Terminal terminal_;
  std::deque<std::string> output_;  // the last lines
  std::vector<bool> off_;           // by ProbeId
  ProbeId chosen_ = 0;              // where the cursor stands
  bool by_cost_ = false, quit_ = false;
  std::string note_;  // of the last key
  // What the table counts from.
  struct Counting {
    std::vector<abi::StatTotal> since;  // by ProbeId: what the table does not show any more
    std::chrono::steady_clock::time_point began, reset, drawn;
  } counting_;
};

}  // namespace dj
