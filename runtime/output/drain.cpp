// Rings -> events -> text. An event is held back until no earlier one can come: a record gets its
// time behind its place in a ring, so those that come to a ring are later than the last round in
// which nothing in it was unfinished.
#include "runtime/output/drain.h"

#include <fmt/format.h>
#include <x86intrin.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <vector>

#include "compiler/base/printable.h"
#include "runtime/output/histogram.h"
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

// One record, copied out of the ring: the target cannot change it any more.
struct Record {
  uint64_t tsc = 0;
  std::vector<uint8_t> bytes;
};

// One CPU's ring, how far it is read, and since when it does not move.
struct RingSource {
  abi::Ring* ring = nullptr;
  abi::RingReader reader;
  Clock::time_point moved = Clock::now();
  uint64_t clear = 0;  // tsc of a round in which none was unfinished: what comes is later
};

// The bytes of a packed string, if they lie inside the record.
std::string_view string_in(const Record& record, uint64_t packed) {
  uint64_t offset = packed & 0xffffffff, length = packed >> 32;
  if (offset + length > record.bytes.size()) return "";
  return {reinterpret_cast<const char*>(record.bytes.data()) + offset, length};
}

template <typename T>
bool read_at(const Record& record, size_t offset, T& value) {
  if (offset + sizeof(T) > record.bytes.size()) return false;
  std::memcpy(&value, record.bytes.data() + offset, sizeof(T));
  return true;
}

// Which arguments of a format are strings is known from its types.
std::string print_text(const Record& record, const abi::EventHeader& header, const Format& format) {
  std::vector<abi::FormatArg> args(std::min<size_t>(header.count, format.arguments.size()));
  for (size_t i = 0; i < args.size(); ++i) {
    read_at(record, sizeof header + 8 * i, args[i].number);
    if (format.arguments[i] != Type::Str) continue;
    std::string_view text = string_in(record, args[i].number);
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
std::string_view text_of(const Record& record, const abi::EventHeader& header) {
  return string_in(record, abi::pack_string(sizeof header, header.format));
}

std::string hist_text(const Record& record, uint32_t form) {
  abi::HistPayload payload;
  size_t at = sizeof(abi::EventHeader);
  if (!read_at(record, at, payload)) return "";
  at += sizeof payload;
  if (payload.words > (record.bytes.size() - at) / 8) return "";
  std::vector<int64_t> words(payload.words);
  std::memcpy(words.data(), record.bytes.data() + at, 8 * words.size());
  if (words.size() != abi::hist_count(payload.shape, form)) return "";
  if (form >= abi::kHistFine) return draw_fine_histogram(words, form - abi::kHistFine);
  return form == abi::kHistLinear ? draw_linear_histogram(words, payload.shape)
                                  : draw_log_histogram(words);
}

std::vector<std::variant<int64_t, double, std::string_view>> print_args(
    const Record& record, const abi::EventHeader& header, const Format& format) {
  std::vector<std::variant<int64_t, double, std::string_view>> args;
  for (size_t i = 0; i < std::min<size_t>(header.count, format.arguments.size()); ++i) {
    int64_t word = 0;
    read_at(record, sizeof header + 8 * i, word);
    if (format.arguments[i] == Type::Str)
      args.emplace_back(string_in(record, static_cast<uint64_t>(word)));
    else if (format.arguments[i] == Type::Double)
      args.emplace_back(std::bit_cast<double>(word));
    else
      args.emplace_back(word);
  }
  return args;
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

}  // namespace

struct Drain::State {
  DrainInput input;
  Output& output;
  ScriptErrors script_errors;
  ShellCommands commands;
  std::vector<RingSource> sources;
  std::vector<Record> held;
  uint64_t horizon = 0;  // tsc: what is not later can be written
  uint64_t written = 0;  // what is not later has been

  size_t collect(bool last, uint64_t round);
  void write(const Record& record);
  void put(const Record& record, const abi::EventHeader& header, std::string text);
};

Drain::Drain(const DrainInput& input, Output& output)
    : state_(
          new State{input,
                    output,
                    ScriptErrors({input.image.spans, input.plan, input.sources, input.layout.base}),
                    {},
                    {},
                    {},
                    0,
                    0}) {
  const abi::Header& header = input.layout.header;
  for (uint32_t i = 0; i <= input.layout.cpus; ++i) {
    RingSource source;
    source.ring = reinterpret_cast<abi::Ring*>(header.rings + i * header.ring_stride);
    source.reader = abi::ring_reader(source.ring);
    state_->sources.push_back(source);
  }
}
Drain::~Drain() = default;
Drain::Drain(Drain&&) noexcept = default;

// Moves finished records from the rings to `held`. Returns how many. round: the tsc before.
size_t Drain::State::collect(bool last, uint64_t round) {
  size_t count = 0;
  Clock::time_point now = Clock::now();
  for (RingSource& source : sources) {
    size_t before = count;
    bool give_up = last || now - source.moved > kUnfinishedMax;
    while (const abi::EventHeader* record = abi::ring_peek(source.ring, &source.reader, give_up)) {
      const uint8_t* bytes = reinterpret_cast<const uint8_t*>(record);
      Record copy{record->tsc, std::vector<uint8_t>(bytes, bytes + source.reader.size)};
      held.push_back(std::move(copy));
      abi::ring_next(&source.reader);
      ++count;
    }
    abi::ring_free(source.ring, &source.reader);
    const bool unfinished = abi::load(&source.ring->head) > source.reader.position;
    if (!unfinished) source.clear = round;
    if (count > before || !unfinished) source.moved = now;
  }
  return count;
}

// To the output, or to whoever takes records.
void Drain::State::put(const Record& record, const abi::EventHeader& header, std::string text) {
  if (!input.sink) return output.write(text);
  const abi::Header& session = *reinterpret_cast<const abi::Header*>(input.layout.base);
  PrintRecord print;
  print.time_ns = time_of(record.tsc, session);
  print.pid = session.target_pid;
  print.text = std::move(text);
  size_t host = header.site - input.plan.sites.size();
  if (const Site* site = site_numbered(input.plan, header.site)) {
    print.probe = site->function;
    print.kind = kind_name(site->kind);
  } else {
    print.kind = "host";
    if (host < input.plan.host_probes.size()) print.probe = input.plan.host_probes[host].text;
  }
  if (header.kind == abi::kEventPrint)
    print.args = print_args(record, header, input.program.formats[header.format]);
  input.sink(print);
}

void Drain::State::write(const Record& record) {
  abi::EventHeader header;
  if (!read_at(record, 0, header)) return;
  switch (header.kind) {
    case abi::kEventPrint:
      if (header.format < input.program.formats.size())
        put(record, header, print_text(record, header, input.program.formats[header.format]));
      break;
    case abi::kEventHist:
      put(record, header, hist_text(record, header.format));
      break;
    case abi::kEventError: {
      abi::ErrorPayload payload;
      if (!read_at(record, sizeof header, payload)) return;
      output.flush();
      script_errors.report(payload, header.site, string_in(record, payload.text));
      break;
    }
    case abi::kEventWarn:
      output.flush();
      log_lines(fmt::format("WARNING: {}\n", text_of(record, header)));
      break;
    case abi::kEventSystem:
      output.flush();
      commands.run(std::string(text_of(record, header)));
      break;
    case abi::kEventSwitchFile:
      output.switch_file();
      break;
    case abi::kEventChildBegins:
    case abi::kEventChildEnds:
      if (input.child)
        input.child(static_cast<pid_t>(header.format), header.kind == abi::kEventChildBegins);
      break;
    default:
      break;
  }
}

size_t Drain::run(bool last) {
  State& state = *state_;
  uint64_t round = __rdtsc();
  size_t count = state.collect(last, round);
  std::stable_sort(state.held.begin(), state.held.end(),
                   [](const Record& a, const Record& b) { return a.tsc < b.tsc; });
  size_t ready = 0;
  while (ready < state.held.size() && (last || state.held[ready].tsc <= state.horizon))
    state.write(state.held[ready++]);
  state.held.erase(state.held.begin(), state.held.begin() + static_cast<ptrdiff_t>(ready));
  state.written = last ? round : state.horizon;
  state.horizon = round;
  for (const RingSource& source : state.sources)
    state.horizon = std::min(state.horizon, source.clear);
  state.output.flush();
  if (last) state.script_errors.summarize();
  if (last) state.commands.wait();
  return count + state.held.size();
}

uint64_t Drain::written_until() const { return state_->written; }
uint64_t Drain::errors() const { return state_->script_errors.count(); }

uint64_t Drain::abandoned() const {
  uint64_t sum = 0;
  for (const RingSource& source : state_->sources) sum += source.reader.abandoned;
  return sum;
}

}  // namespace dj
