// SPDX-License-Identifier: Apache-2.0
// Rings -> events -> text. An event is held back until no earlier one can come: a record gets its
// time behind its place in a ring, so those that come to a ring are later than the last round in
// which nothing in it was unfinished.
#include "runtime/output/drain.h"

#include <fmt/format.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/function_names.h"
#include "runtime/output/held_records.h"
#include "runtime/output/histogram.h"
#include "runtime/output/messages.h"
#include "runtime/output/rate_limit.h"
#include "runtime/output/record_rules.h"
#include "runtime/output/script_error.h"
#include "runtime/output/shell_commands.h"
#include "runtime/shared/event.h"
#include "runtime/shared/format.h"
#include "runtime/shared/ring.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

using Clock = std::chrono::steady_clock;
// A record that stays unfinished so long belongs to a thread that was killed, unwound or stopped.
constexpr std::chrono::seconds kUnfinishedMax{1};
// A ring in which something was unfinished at each look for so long holds the others back no more.
constexpr std::chrono::seconds kHoldBackMax{2};
// Cycle counters of processors may differ by so much.
constexpr uint64_t kSkew = 1 << 30;

// What a program can make djtap do by its records: lines on the terminal, and files.
constexpr int kWarnings = 1000, kFilesAtOnce = 100, kFiles = 10;

// Which arguments of a format are strings is known from its types.
std::string print_text(const Record& record, const Format& format) {
  RecordTexts texts(record);
  std::vector<abi::FormatArg> args(format.arguments.size());
  for (size_t i = 0; i < args.size(); ++i) {
    record.read(sizeof record.header + 8 * i, args[i].number);
    if (format.arguments[i] != Type::Str) continue;
    std::string_view text = texts(args[i].number);
    args[i].text = text.data();
    args[i].length = static_cast<uint32_t>(text.size());
  }
  uint32_t length = static_cast<uint32_t>(format.text.size()),
           count = static_cast<uint32_t>(args.size());
  std::string text(format.text.size() + 64 + record.bytes.size(), '\0');
  uint64_t whole =
      abi::format_text(text.data(), text.size(), format.text.data(), length, args.data(), count);
  if (whole > text.size()) {  // wide fields
    text.resize(whole);
    whole =
        abi::format_text(text.data(), text.size(), format.text.data(), length, args.data(), count);
  }
  text.resize(std::min<uint64_t>(whole, text.size()));
  return text;
}

// The text of a Warn or System record.
std::string_view text_of(const Record& record) {
  return record.text(abi::pack_string(sizeof record.header, record.header.format));
}

// Nothing, if no handler prints such a histogram.
std::optional<std::string> hist_text(const Record& record, const RecordRules& rules) {
  abi::HistPayload payload;
  const uint32_t form = record.header.format;
  size_t at = sizeof record.header;
  if (!record.read(at, payload)) return std::nullopt;
  const abi::StatShape* shape = rules.shape(payload.shape, form);
  if (shape == nullptr) return std::nullopt;
  at += sizeof payload;
  std::vector<int64_t> words(abi::hist_count(*shape, form));
  if (payload.words != words.size() || words.size() > (record.bytes.size() - at) / 8)
    return std::nullopt;
  std::memcpy(words.data(), record.bytes.data() + at, 8 * words.size());
  return draw_histogram(words, *shape, form);
}

std::vector<std::variant<int64_t, double, std::string_view>> print_args(const Record& record,
                                                                        const Format& format) {
  RecordTexts texts(record);
  std::vector<std::variant<int64_t, double, std::string_view>> args;
  for (size_t i = 0; i < format.arguments.size(); ++i) {
    int64_t word = 0;
    record.read(sizeof record.header + 8 * i, word);
    if (format.arguments[i] == Type::Str)
      args.emplace_back(texts(static_cast<uint64_t>(word)));
    else if (format.arguments[i] == Type::Double)
      args.emplace_back(std::bit_cast<double>(word));
    else
      args.emplace_back(word);
  }
  return args;
}

// All 0, if the record is too short to have one.
abi::Sender sender_of(const Record& record) {
  abi::Sender sender = {};
  const size_t own = sizeof record.header + sizeof sender;
  if (record.bytes.size() >= own) record.read(record.bytes.size() - sizeof sender, sender);
  return sender;
}

// As gettimeofday_ns() computes it; now where the cycle counter is no clock.
int64_t time_of(uint64_t tsc, const abi::Header& header) {
  if (header.tsc_mult == 0) {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  __int128 scaled = static_cast<__int128>(static_cast<int64_t>(tsc - header.tsc_base)) *
                    static_cast<int64_t>(header.tsc_mult);
  return static_cast<int64_t>(header.time_base_ns) + static_cast<int64_t>(scaled >> abi::kTscShift);
}

std::string_view kind_name(SiteKind kind) {
  switch (kind) {
    case SiteKind::Entry:
      return "entry";
    case SiteKind::Return:
      return "return";
    default:
      return "statement";
  }
}

// The first time that something is refused; summarize() says how often.
void report_first(const RateLimit& limit, const std::string& what) {
  if (limit.refused() == 1)
    report_warning("DJ5905", what + "; the others are left out, and counted at the end");
}

}  // namespace

struct Drain::State {
  // One CPU's ring, how far it is read, and since when it does not move.
  struct RingSource {
    abi::Ring* ring = nullptr;
    abi::RingReader reader;
    Clock::time_point moved = Clock::now(), cleared = Clock::now();
    uint64_t clear = 0;  // tsc of a round in which none was unfinished: what comes is later
    uint64_t left = 0;   // bytes that may be read in this call of run()
  };

  struct Times {
    uint64_t horizon = 0;  // tsc: what is not later can be written
    uint64_t written = 0;  // what is not later has been
    uint64_t latest = 0;   // tsc: when it was asked last, to compare records with
  };
  struct Rates {
    RateLimit warnings{kWarnings, kWarnings}, files{kFilesAtOnce, kFiles};
  };

  DrainInput input;
  Output& output;
  std::optional<RecordRules> rules{std::in_place, input.program, input.plan, input.layout};
  ScriptErrors script_errors{{input.image.spans, input.plan, input.sources, input.layout}};
  ShellCommands commands;
  FunctionNames names;
  std::vector<RingSource> sources;
  HeldRecords held;
  size_t turn = 0;  // the source that is read first
  Times times;
  uint64_t forged = 0;  // records that no handler can have sent
  Rates rates;

  size_t collect(bool last, uint64_t round);
  size_t read(RingSource& source, bool last);
  bool admit(const Record& record, uint64_t& tsc);
  void write(const Record& record);
  void write_ready(bool last);
  void put(const Record& record, const Format* format, std::string text);
  void report_forged();
  void summarize();
};

Drain::Drain(const DrainInput& input, Output& output) : state_(new State{input, output}) {
  const abi::Header& header = input.layout.header;
  for (uint32_t i = 0; i <= input.layout.cpus; ++i) {
    State::RingSource source;
    source.ring = abi::ring_of_row(&header, input.layout.arena(), i);
    source.reader = abi::ring_reader(header.ring_bytes);
    state_->sources.push_back(source);
  }
}
Drain::~Drain() = default;
Drain::Drain(Drain&&) noexcept = default;

// Told at once, and counted from then on.
void Drain::State::report_forged() {
  if (forged++ > 0) return;
  report_warning(
      "DJ5909",
      "the program has written into djtap's memory itself: what no handler of the script "
      "can have sent is dropped, and what is shown may be wrong");
}

// Whether a handler can have sent the record. *tsc: its time, which is not later than now.
bool Drain::State::admit(const Record& record, uint64_t& tsc) {
  const uint64_t began = input.layout.header.session_start_tsc;
  tsc = record.tsc;
  if (tsc > times.latest) times.latest = __rdtsc();
  const bool is_timely = tsc + kSkew >= began && tsc <= times.latest + kSkew;
  tsc = std::min(tsc, times.latest);
  const abi::EventHeader& header = record.header;
  return is_timely && rules->sends(header.kind) && rules->has_site(header.site) &&
         (header.kind != abi::kEventPrint || rules->format(header.format, header.count) != nullptr);
}

// Moves finished records from one ring to `held`. Returns how many.
size_t Drain::State::read(RingSource& source, bool last) {
  size_t count = 0;
  const bool give_up = last || Clock::now() - source.moved > kUnfinishedMax;
  while (source.left > 0 && !held.is_full()) {
    const abi::EventHeader* in_ring = abi::ring_peek(source.ring, &source.reader, give_up);
    if (in_ring == nullptr) break;
    const Record record = held.copy(in_ring, source.reader.size);
    source.left -= std::min<uint64_t>(source.left, source.reader.size);
    abi::ring_next(&source.reader);
    ++count;
    uint64_t tsc = 0;
    if (admit(record, tsc)) {
      held.hold(tsc);
    } else {
      held.drop();
      report_forged();
    }
  }
  if (source.reader.scribbled) report_forged();
  source.reader.scribbled = false;
  abi::ring_free(source.ring, &source.reader);
  return count;
}

// The same for all rings. round: the tsc before.
size_t Drain::State::collect(bool last, uint64_t round) {
  size_t count = 0;
  const Clock::time_point now = Clock::now();
  for (size_t i = 0; i < sources.size(); ++i) {
    RingSource& source = sources[(turn + i) % sources.size()];
    const size_t read_here = read(source, last);
    const bool unfinished = abi::ring_has_more(source.ring, source.reader);
    if (!unfinished || now - source.cleared > kHoldBackMax) {
      source.clear = round;
      source.cleared = now;
    }
    if (read_here > 0 || !unfinished) source.moved = now;
    count += read_here;
  }
  ++turn;
  return count;
}

// To the output, or to whoever takes records. format: of a print.
void Drain::State::put(const Record& record, const Format* format, std::string text) {
  if (!input.sink) return output.write(text);
  const uint32_t number = record.header.site;
  PrintRecord print;
  print.time_ns = time_of(record.tsc, input.layout.header);
  const abi::Sender sender = sender_of(record);
  print.pid = sender.pid;
  print.tid = sender.tid;
  print.text = std::move(text);
  const size_t host = number - input.plan.sites.size();
  const Site* const site = site_numbered(input.plan, number);
  if (site != nullptr) print.probe = names.of(number, *site);
  if (site != nullptr && !is_host(*site)) {
    print.kind = kind_name(site->kind);
  } else {
    print.kind = "host";
    if (sender.pid == getpid()) {  // no sample of a thread
      print.pid = input.layout.header.target_pid;
      print.tid = 0;
    }
    if (host < input.plan.host_probes.size()) print.probe = input.plan.host_probes[host].text;
  }
  if (format != nullptr) print.args = print_args(record, *format);
  input.sink(print);
}

void Drain::State::write(const Record& record) {
  const abi::EventHeader& header = record.header;
  switch (header.kind) {
    case abi::kEventPrint: {
      const Format* format = rules->format(header.format, header.count);
      return put(record, format, print_text(record, *format));
    }
    case abi::kEventHist: {
      std::optional<std::string> text = hist_text(record, *rules);
      return text ? put(record, nullptr, std::move(*text)) : report_forged();
    }
    case abi::kEventError: {
      abi::ErrorPayload payload;
      if (!record.read(sizeof header, payload) || !script_errors.can_be(payload))
        return report_forged();
      output.flush();
      return script_errors.report(payload, header.site, record.text(payload.text));
    }
    case abi::kEventWarn:
      output.flush();
      if (rates.warnings.allow()) return log_lines(fmt::format("WARNING: {}\n", text_of(record)));
      return report_first(rates.warnings,
                          fmt::format("warnings by warn(): more than {} a second", kWarnings));
    case abi::kEventSystem:
      output.flush();
      return commands.run(std::string(text_of(record)));
    case abi::kEventSwitchFile:
      if (rates.files.allow()) return output.switch_file();
      return report_first(
          rates.files, fmt::format("files by switch_file(): more than {} at once, and {} a second",
                                   kFilesAtOnce, kFiles));
    case abi::kEventChildBegins:
    case abi::kEventChildEnds: {
      abi::ChildPayload child;
      if (!record.read(sizeof header, child)) return report_forged();
      if (input.child) input.child(child, header.kind == abi::kEventChildBegins);
      return;
    }
    default:
      return;
  }
}

// What is not later than the horizon; all, if it is the last time. Where too much is held, what is
// earliest goes out whatever may still come before it.
void Drain::State::write_ready(bool last) {
  const size_t kept = held.is_full() ? held.size() / 2 : held.size();
  held.sort();
  while (!held.empty() && (last || held.size() > kept || held.earliest() <= times.horizon))
    write(held.take());
  held.forget_taken();
}

// What was not done, at the end.
void Drain::State::summarize() {
  script_errors.summarize();
  if (forged > 1)
    report_warning("DJ5909", fmt::format("{} of the program's own making dropped in all",
                                         counted(forged, "record")));
  if (const uint64_t lost = rates.warnings.refused())
    report_warning("DJ5905", fmt::format("{} by warn() dropped: more than {} a second",
                                         counted(lost, "warning"), kWarnings));
  if (const uint64_t lost = rates.files.refused())
    report_warning(
        "DJ5905", fmt::format("{} by switch_file() left out: more than {} at once, and {} a second",
                              counted(lost, "new file"), kFilesAtOnce, kFiles));
}

size_t Drain::run(bool last) {
  State& state = *state_;
  uint64_t round = __rdtsc();
  for (auto& source : state.sources) source.left = source.reader.bytes;
  size_t count = 0, more = 0;
  do {
    more = state.collect(last, round);
    state.write_ready(last);
    count += more;
  } while (last && more > 0);
  state.times.written = last ? round : state.times.horizon;
  state.times.horizon = round;
  for (const auto& source : state.sources)
    state.times.horizon = std::min(state.times.horizon, source.clear);
  state.output.flush();
  if (last) state.summarize();
  if (last) state.commands.wait();
  return count + state.held.size();
}

void Drain::take_more() {
  const DrainInput& input = state_->input;
  state_->rules.emplace(input.program, input.plan, input.layout);
}

uint64_t Drain::written_until() const { return state_->times.written; }
uint64_t Drain::errors() const { return state_->script_errors.count(); }

uint64_t Drain::abandoned() const {
  uint64_t sum = 0;
  for (const auto& source : state_->sources) sum += source.reader.abandoned;
  return sum;
}

}  // namespace dj
