// SPDX-License-Identifier: Apache-2.0
// The screen's lines, made anew each time from the arena.
#include "runtime/session/monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/global_values.h"
#include "runtime/output/report_times.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetween{500};
constexpr size_t kElements = 8, kOutputLines = 10;
// Of the terminal: what probes get at least, and what is left for the rest when there are many.
constexpr size_t kLeastRows = 5, kOtherLines = 20;
constexpr int64_t kLeastOutput = 3;
constexpr size_t kLongestShown = 4096;  // of the output; the terminal cuts it

// One line each, whatever its text holds.
void add_lines(const GlobalValue& global, std::vector<std::string>& lines) {
  size_t count = std::min(global.elements.size(), kElements);
  for (const Element& element : std::span(global.elements).first(count)) {
    const char* joint = std::holds_alternative<StatValue>(element.value) ? " " : "=";
    std::string keys =
        global.is_array ? fmt::format("[{}]", key_text(element, global.pointers)) : "";
    lines.push_back(
        fmt::format("  {}{}{}{}", global.name, keys, joint, value_text(global, element)));
    std::replace(lines.back().begin(), lines.back().end(), '\n', ' ');
  }
  if (count < global.elements.size())
    lines.push_back(fmt::format("  .. {} more", global.elements.size() - count));
}

// Wraps around: the target may have written any numbers.
int64_t less(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// As many words as a line of so many columns has room for; `other`: what s would sort by.
std::string key_help(std::string_view other, size_t columns) {
  const std::array forms = {
      fmt::format("keys: q quit, s sort by {}, r count from 0, 1-9 switch a probe, arrows and "
                  "space any",
                  other),
      fmt::format("q quit, s by {}, r from 0, 1-9 or arrows, space: on/off", other),
      fmt::format("q quit, s {}, r 0, 1-9 on/off", other), std::string("q s r 1-9")};
  const size_t before = std::string_view("djtap 99999.9 s   ").size();
  for (const std::string& form : forms) {
    if (before + form.size() <= columns) return form;
  }
  return forms.back();
}

}  // namespace

struct Monitor::Row {
  ProbeId probe = 0;
  abi::StatTotal total;
};

Monitor::Monitor(const MonitorInput& input, Terminal terminal)
    : input_(input), terminal_(std::move(terminal)), off_(input.program.probes.size()) {
  counting_.began = counting_.reset = Clock::now();
}

Result<std::unique_ptr<Monitor>> Monitor::open(const MonitorInput& input) {
  DJ_TRY(Terminal terminal, Terminal::open());
  return std::make_unique<Monitor>(input, std::move(terminal));
}

void Monitor::add_output(std::string_view text) {
  while (!text.empty()) {
    if (output_.empty() || output_.back().ends_with('\n')) output_.emplace_back();
    size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (output_.back().size() < kLongestShown) output_.back() += text.substr(0, end);
    text.remove_prefix(end);
    if (output_.size() > kOutputLines) output_.pop_front();
  }
}

std::vector<Monitor::Row> Monitor::rows() const {
  std::vector<Row> rows;
  for (ProbeId probe = 0; probe < input_.timed.times.size(); ++probe) {
    Value value = read_global(input_.program, input_.timed.times[probe], input_.layout)
                      .elements.front()
                      .value;
    abi::StatTotal total = std::get<StatValue>(value);
    if (probe < counting_.since.size()) {
      total.count = less(total.count, counting_.since[probe].count);
      total.sum = less(total.sum, counting_.since[probe].sum);
    }
    rows.push_back({probe, total});
  }
  std::stable_sort(rows.begin(), rows.end(), [this](const Row& a, const Row& b) {
    return by_cost_ ? a.total.sum > b.total.sum : a.total.count > b.total.count;
  });
  return rows;
}

size_t Monitor::place_of_cursor(const std::vector<Row>& rows) const {
  auto at =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.probe == chosen_; });
  return at == rows.end() ? 0 : static_cast<size_t>(at - rows.begin());
}

// First and count of the rows that are shown: those around the cursor, when there are more than the
// terminal has room for.
std::pair<size_t, size_t> Monitor::window(const std::vector<Row>& rows) const {
  const size_t lines = terminal_.size().first;
  const size_t room = std::max(kLeastRows, lines - std::min(lines, kOtherLines));
  if (rows.size() <= room) return {0, rows.size()};
  const size_t at = place_of_cursor(rows);
  return {std::min(at - std::min(at, room / 2), rows.size() - room), room};
}

std::string Monitor::screen(double seconds) const {
  std::string text =
      fmt::format("djtap {:.1f} s   {}\n{}\n", seconds,
                  key_help(by_cost_ ? "hits" : "time", terminal_.size().second), note_);
  double counted = std::chrono::duration<double>(Clock::now() - counting_.reset).count();
  text +=
      fmt::format(" {:>2} {:>5} {:>12} {:>12} {:>9}  probe\n", "#", "", "hits", "hits/s", "avg ns");
  const std::vector<Row> all = rows();
  const auto [first, count] = window(all);
  for (const Row& row : std::span(all).subspan(first, count)) {
    text +=
        fmt::format("{}{:>2} {:>5} {:>12} {:>12.0f} {:>9}  {}\n", row.probe == chosen_ ? '>' : ' ',
                    row.probe + 1, off_[row.probe] ? "off" : "on", row.total.count,
                    static_cast<double>(row.total.count) / std::max(counted, 0.001),
                    to_ns(row.total.get(abi::kStatAvg), input_.layout),
                    label_of(input_.program.probes[row.probe], input_.sources));
  }
  if (count < all.size()) text += fmt::format("    .. {} more\n", all.size() - count);
  text += busiest_processes();
  return text + globals_and_output(std::count(text.begin(), text.end(), '\n'));
}

// Those of most hits since the session began, if there are several.
std::string Monitor::busiest_processes() const {
  constexpr size_t kShown = 3;
  if (!input_.timed.by_process) return "";
  const std::vector<Element> all =
      process_times(*input_.timed.by_process, input_.program, input_.layout);
  if (all.size() < 2) return "";
  std::string text = fmt::format("{}:", counted(all.size(), "process"));
  for (const Element& element : std::span(all).first(std::min(all.size(), kShown))) {
    const auto pid = static_cast<int>(std::get<int64_t>(element.keys.front()));
    const std::string path = program_path(pid);  // empty: it has ended
    text += fmt::format("  {} {} {} hits", pid, printable(path.substr(path.rfind('/') + 1)),
                        std::get<StatValue>(element.value).count);
  }
  return text + "\n";
}

// What the terminal has room for below `above` lines: of the output a few lines at least, then the
// globals, then the rest of the output.
std::string Monitor::globals_and_output(int64_t above) const {
  std::vector<std::string> lines;
  for (const GlobalValue& global : read_globals(input_.program, input_.layout))
    add_lines(global, lines);
  const int64_t room = std::max<int64_t>(
      static_cast<int64_t>(terminal_.size().first) - above - 4 /* titles and blank lines */, 0);
  const auto wanted = static_cast<int64_t>(lines.size());
  const auto printed = static_cast<int64_t>(output_.size());
  const int64_t kept = std::min(printed, std::max(kLeastOutput, room - wanted));
  const bool all = wanted <= room - kept;
  const int64_t count = all ? wanted : std::clamp<int64_t>(room - kept - 1, 0, wanted);
  std::string text = "\nglobals\n";
  for (const std::string& line : std::span(lines).first(static_cast<size_t>(count)))
    text += line + "\n";
  if (!all) text += fmt::format("  .. {} more lines\n", wanted - count);
  text += "\noutput\n";
  for (auto line = output_.end() - kept; line != output_.end(); ++line) text += "  " + *line;
  return text;
}

// The table counts from here on; the session's own counts stay what they are.
void Monitor::reset() {
  counting_.since.clear();
  std::vector<abi::StatTotal> totals(input_.timed.times.size());
  for (const Row& row : rows()) totals[row.probe] = row.total;
  counting_.since = std::move(totals);
  counting_.reset = Clock::now();
}

// All its handlers, wherever they are.
void Monitor::switch_probe(Session& session, ProbeId probe) {
  std::set<HandlerAt> meant;
  if (session.target() != nullptr) {
    for (const InstalledSite& site : session.sites()) {
      for (const InstalledHandler& each : site.handlers) {
        if (each.probe == probe) meant.insert({site.site, each.handler});
      }
    }
  }
  if (meant.empty()) {
    note_ = fmt::format("probe {} is not in the target", probe + 1);
    return;
  }
  Status done = session.switch_handlers(meant, off_[probe], kOffByCommand);
  note_ = done.ok() ? "" : printable(done.error().message);
  if (!done.ok()) return;
  session.switch_rules().add(
      fmt::format("probe {}", probe),
      [probe](const InstalledSite& site, size_t i) { return site.handlers[i].probe == probe; },
      off_[probe]);
  off_[probe] = !off_[probe];
}

void Monitor::move_cursor(int down) {
  const std::vector<Row> all = rows();
  const auto at = static_cast<int64_t>(place_of_cursor(all)) + down;
  if (at >= 0 && at < static_cast<int64_t>(all.size()))
    chosen_ = all[static_cast<size_t>(at)].probe;
}

void Monitor::obey(Session& session, std::string_view keys) {
  while (!keys.empty()) {
    const bool is_arrow =
        keys.size() >= 3 && (keys.starts_with("\x1b[") || keys.starts_with("\x1bO"));
    const char key = keys[is_arrow ? 2 : 0];
    keys.remove_prefix(is_arrow ? 3 : 1);
    if (is_arrow) {
      if (key == 'A' || key == 'B') move_cursor(key == 'A' ? -1 : 1);
      continue;
    }
    if (key == 'q') quit_ = true;
    if (key == 's') by_cost_ = !by_cost_;
    if (key == 'r') reset();
    if (key == ' ') switch_probe(session, chosen_);
    if (key >= '1' && key <= '9' && static_cast<size_t>(key - '1') < input_.timed.times.size())
      switch_probe(session, static_cast<ProbeId>(key - '1'));
  }
}

void Monitor::run(Session& session) {
  const std::string keys = terminal_.keys();
  obey(session, keys);
  Clock::time_point now = Clock::now();
  if (keys.empty() && now - counting_.drawn < kBetween) return;
  counting_.drawn = now;
  terminal_.show(screen(std::chrono::duration<double>(now - counting_.began).count()));
}

}  // namespace dj
