// SPDX-License-Identifier: Apache-2.0
// Spoils a formatted arena at random and has djtap's readers read it: the drain, all globals,
// reports. Built with ASan and UBSan:  arena_reader RUNS [SEED]. A run is one arena; what goes
// wrong names the seed that repeats it (RUNS 1).
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "compiler/stages/layout.h"
#include "runtime/output/drain.h"
#include "runtime/output/report_calls.h"
#include "runtime/output/report_globals.h"
#include "runtime/output/report_times.h"
#include "runtime/session/losses.h"
#include "runtime/shared/capture.h"
#include "runtime/shared/ring.h"
#include "runtime/shared/strings.h"

namespace dj {
namespace {

constexpr uint32_t kCpus = 2;
constexpr uint64_t kStringBytes = 1 << 14;

ExprPtr expr_of(decltype(Expr::node) node) {
  auto expr = std::make_unique<Expr>();
  expr->node = std::move(node);
  return expr;
}

// A script with all kinds of globals, prints and histograms, as check and resolve would hand it on.
struct Script {
  Program program;
  Plan plan;
  Image image;
  Sources sources;
  Layout layout;

  Script() {
    program.formats = {{"%d %s\n", {Type::Int, Type::Str}},
                       {"%*d %5.2f %x\n", {Type::Int, Type::Int, Type::Double, Type::Int}},
                       {"%s%s%s\n", {Type::Str, Type::Str, Type::Str}}};
    add(Type::Int, Storage::Counter, {});
    add(Type::Str, Storage::Scalar, {});
    add(Type::Double, Storage::Scalar, {});
    Global& stats = add(Type::Stat, Storage::Stats, {});
    stats.asked.hist_log = stats.asked.variance = stats.asked.percentiles = true;
    stats.asked.hist_linear = {0, 100, 10};
    add(Type::Str, Storage::Array, {Type::Str, Type::Int});
    add(Type::Int, Storage::Array, {Type::Double}).array.grows = true;
    program.globals.back().array.sums = true;
    Global& array = add(Type::Stat, Storage::Array, {Type::Str});
    array.asked.hist_log = array.asked.variance = true;  // percentiles would take most of the time
    add_probe();
    image.spans.push_back({});
    sources.files.emplace_back("script", "probe begin { }");
    Limits limits;
    limits.max_map_entries = 24;
    limits.string_bytes = kStringBytes;
    limits.ring_bytes = 1 << 13;
    limits.contexts = 4;
    layout = lay_out(program, plan, limits, kCpus, reserve());
  }
  Global& add(Type value, Storage storage, std::vector<Type> keys) {
    Global& global = program.globals.emplace_back();
    global.name = "g" + std::to_string(program.globals.size());
    global.value = value;
    global.storage = storage;
    global.keys = std::move(keys);
    global.ever_written = true;
    return global;
  }
  void add_probe() {
    Block block;
    const auto add_stmt = [&](ExprPtr expr) {
      auto stmt = std::make_unique<Stmt>();
      stmt->node = ExprStmt{std::move(expr)};
      block.body.push_back(std::move(stmt));
    };
    for (FormatId id = 0; id < program.formats.size(); ++id) add_stmt(expr_of(Print{true, id, {}}));
    for (const auto& [linear, bits] : {std::pair{true, 0}, {false, 0}, {false, 2}})
      add_stmt(expr_of(PrintHist{linear, expr_of(GlobalRef{3}), static_cast<uint8_t>(bits)}));
    auto body = std::make_unique<Stmt>();
    body->node = std::move(block);
    program.probes.emplace_back().body = std::move(body);
    plan.host_probes.emplace_back().text = "begin";
    plan.handlers.emplace_back();
  }
  static uint64_t reserve() {
    constexpr size_t kMost = 1 << 30;
    void* got = mmap(nullptr, kMost, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return reinterpret_cast<uint64_t>(got);
  }
};

class Run {
 public:
  Run(const Script& script, uint64_t seed) : script_(script), random_(seed) {}

  void format() {
    const Layout& layout = script_.layout;
    const abi::Header& header = layout.header;
    const uint64_t words = header.words.address(layout.arena());
    const uint64_t rings = header.rings.address(layout.arena());
    clear(words, rings - words);
    clear(rings, header.ring_stride * (kCpus + 1));
    clear(layout.strings.data, abi::strings_data_bytes(kStringBytes));
    *at<abi::Header>(layout.base) = header;
    abi::strings_init(header.strings.get(layout.arena()), layout.strings.data - layout.base,
                      kStringBytes, layout.strings.constants - layout.base, kStringBytes);
    for (const char* text : {"one", "another text", "x\x1b[31m"})
      words_.push_back(abi::ref_to(
          &header, abi::strings_intern(&header, text, static_cast<uint32_t>(strlen(text)))));
    for (size_t i = 0; i < layout.globals.size(); ++i) fill(i);
  }

  // Like a handler's records, and unlike them.
  void send() {
    for (uint64_t i = below(30); i > 0; --i) {
      abi::Ring* one = ring(below(kCpus + 1));
      const auto size = static_cast<uint32_t>(abi::kEventAlign * (1 + below(below(8) ? 6 : 40)));
      uint64_t position = 0;
      const uint64_t bytes = script_.layout.header.ring_bytes;
      abi::EventHeader* head = abi::ring_reserve(one, bytes, size, &position);
      if (head == nullptr) continue;
      auto* payload = reinterpret_cast<uint64_t*>(head + 1);
      for (uint32_t word = 0; word < (size - sizeof *head) / 8; ++word)
        payload[word] = below(2) == 0 ? value()
                                      : abi::pack_string(static_cast<uint32_t>(below(size)),
                                                         static_cast<uint32_t>(below(size)));
      *head = {0,
               below(4) == 0 ? value() : __rdtsc(),
               size,
               static_cast<uint16_t>(below(10)),
               static_cast<uint16_t>(below(5)),
               static_cast<uint32_t>(below(5)),
               0};
      if (head->kind == abi::kEventHist && below(2) == 0) hist(head, size);
      if (below(8) != 0) abi::ring_commit(head, position);
    }
  }
  void spoil() {
    const abi::Header& header = script_.layout.header;
    const abi::Arena arena = script_.layout.arena();
    const uint64_t words = header.words.address(arena), rings = header.rings.address(arena);
    const std::pair<uint64_t, uint64_t> parts[] = {
        {words, sizeof(abi::SessionWords)},
        {words, rings - words},
        {script_.layout.globals[4].data, 4096},
        {script_.layout.globals[5].data, 2048},
        {script_.layout.globals[6].data, 4096},
        {script_.layout.strings.data, sizeof(abi::StringWords)},
        {script_.layout.strings.data, abi::strings_data_bytes(kStringBytes)},
        {rings, 512},
        {rings, header.ring_stride * (kCpus + 1)},
        {header.thread_rows.address(arena), 64}};
    for (uint64_t i = below(60); i > 0; --i) {
      const auto& [begin, bytes] = parts[below(std::size(parts))];
      *at<uint64_t>((begin + below(bytes)) & ~uint64_t{7}) = value();
    }
  }
  void read(Output& output) {
    const Layout& layout = script_.layout;
    Drain drain({script_.program, script_.image, script_.plan, script_.sources, layout}, output);
    drain.run(false);
    send();
    spoil();
    drain.run(false);
    drain.run(true);
    const std::vector<GlobalValue> all = read_globals(script_.program, layout);
    for (ReportFormat format : {ReportFormat::Text, ReportFormat::Json, ReportFormat::Csv})
      report_globals(all, format, output);
    report_losses(
        {ToldWords({layout.base, layout.bytes}, layout.header.words.address(layout.arena())),
         script_.program, script_.plan, layout});
    report_calls(script_.program, script_.plan, script_.sources, layout);
  }

 private:
  template <typename T>
  T* at(uint64_t address) {
    return reinterpret_cast<T*>(address);
  }
  void clear(uint64_t address, uint64_t bytes) { memset(at<void>(address), 0, bytes); }
  uint64_t below(uint64_t bound) { return random_() % bound; }
  abi::Ring* ring(uint64_t i) {
    const Layout& layout = script_.layout;
    return abi::ring_of_row(&layout.header, layout.arena(), static_cast<uint32_t>(i));
  }
  uint64_t value() {
    const Layout& layout = script_.layout;
    const uint64_t values[] = {0,
                               1,
                               ~0ull,
                               uint64_t{1} << 63,
                               INT64_MAX,
                               layout.base,
                               layout.base + layout.bytes - 4,
                               layout.header.strings.address(layout.arena()),
                               0xffffffff,
                               random_(),
                               below(64),
                               uint64_t{1} << below(64),
                               words_.empty() ? 0 : words_[below(words_.size())],
                               layout.base + below(layout.bytes),
                               1 | below(25) << 25};
    return values[below(std::size(values))];
  }
  // A global as handlers may have left it.
  void fill(size_t id) {
    const Global& global = script_.program.globals[id];
    const GlobalSlot& slot = script_.layout.globals[id];
    if (global.storage != Storage::Array) return;
    auto* map = at<abi::Map>(slot.address);
    const abi::MapForm form = map_form(global, slot, script_.layout);
    abi::map_init(map, form, slot.data - script_.layout.base);
    const abi::Arena arena = script_.layout.arena();
    abi::map_words(arena, map)->fresh = form.capacity;
    for (uint32_t i = 0; i < form.capacity; ++i) {
      abi::MapNode* node = abi::map_node(arena, map, i);
      node->pair = {words_[below(words_.size())], abi::kNodeAlive};
      node->hash = static_cast<uint32_t>(below(8));
      for (uint32_t key = 0; key < form.key_count; ++key) node->keys[key] = words_[below(3)];
      uint64_t* head = abi::map_head(arena, map, node->hash);
      node->link = *head;
      *head = i + 1;
    }
  }
  // The words of a histogram that the script prints.
  void hist(abi::EventHeader* head, uint32_t size) {
    const uint32_t forms[] = {abi::kHistLog, abi::kHistLinear, abi::kHistFine + 2};
    head->format = forms[below(3)];
    abi::HistPayload payload = {script_.layout.globals[3].shape, 0};
    payload.words = abi::hist_count(payload.shape, head->format);
    if (size >= sizeof *head + sizeof payload) memcpy(head + 1, &payload, sizeof payload);
  }

  const Script& script_;
  std::mt19937_64 random_;
  std::vector<uint64_t> words_;
};

}  // namespace
}  // namespace dj

// The sanitizers' own names.
extern "C" void __sanitizer_set_death_callback(void (*callback)());
extern "C" const char* __asan_default_options() { return "handle_abort=1:detect_leaks=0"; }

static uint64_t current_seed = 0;

int main(int argc, char** argv) {
  const uint64_t runs = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1000;
  const uint64_t first = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
  __sanitizer_set_death_callback([] { dprintf(STDERR_FILENO, "seed %lu\n", current_seed); });
  const dj::Script script;
  dj::Output output = dj::Output::open("/dev/null", {}).take();
  FILE* const said = stderr;
  stderr = fopen("/dev/null", "w");  // what the readers say of what they find
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    if (seed % 100'000 == 0) fprintf(said, "arena_reader: seed %lu\n", seed);
    current_seed = seed;
    dj::Run run(script, seed);
    run.format();
    run.send();
    if (seed % 4 != 0) run.spoil();
    run.read(output);
  }
  fprintf(said, "arena_reader: %lu arenas read\n", runs);
  return 0;
}
