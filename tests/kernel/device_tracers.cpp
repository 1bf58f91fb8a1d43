// SPDX-License-Identifier: Apache-2.0
// djtap's probe and the kernel's own tracers on one function, switched on and off in any order.
// Runs in a guest.
//
//   device_tracers ROUNDS SEED   prints a line of JSON: the function, how often each tool was
//       switched on, what was wrong, and whether the text is as before
//
// Tools: djtap's module; ftrace's function tracer, a kprobe event and a bpf program (fentry), which
// use the nop in front of djtap's place; a kprobe event at djtap's own place ("above").
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string_view>

#include "tests/kernel/device_plan.h"

namespace dj {
namespace {

constexpr uint64_t kUses = 3;  // in a round
const std::string kTracing = "/sys/kernel/tracing/";

void echo(const std::string& text, const std::string& file) {
  const std::string path = kTracing + file;
  const bool appends = file == "kprobe_events";
  const int fd = open(path.c_str(), O_WRONLY | (appends ? O_APPEND : O_TRUNC));
  if (fd < 0 || write(fd, text.data(), text.size()) != ssize_t(text.size())) fail(path);
  close(fd);
}

// Calls each of the functions that may be probed once.
void use() {
  if (symlink("x", "/run/tracers-x") || rename("/run/tracers-x", "/run/tracers-y") ||
      unlink("/run/tracers-y"))
    fail("/run");
}

// The number of a function's type in the kernel's BTF.
uint32_t btf_function(std::string_view wanted) {
  std::ifstream file("/sys/kernel/btf/vmlinux", std::ios::binary);
  const std::vector<char> all(std::istreambuf_iterator<char>(file), {});
  const auto word = [&](size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, &all.at(at), sizeof value);
    return value;
  };
  const size_t head = word(4), types = head + word(8), strings = head + word(16);
  uint32_t id = 1;
  for (size_t at = types; at < types + word(12); id++) {
    const uint32_t info = word(at + 4), count = info & 0xffff, kind = info >> 24 & 31;
    if (kind == BTF_KIND_FUNC && wanted == &all.at(strings + word(at))) return id;
    size_t more = 0;
    switch (kind) {
      case BTF_KIND_INT:
      case BTF_KIND_VAR:
      case BTF_KIND_DECL_TAG:
        more = 4;
        break;
      case BTF_KIND_ARRAY:
        more = 12;
        break;
      case BTF_KIND_ENUM:
      case BTF_KIND_FUNC_PROTO:
        more = size_t{8} * count;
        break;
      case BTF_KIND_STRUCT:
      case BTF_KIND_UNION:
      case BTF_KIND_DATASEC:
      case BTF_KIND_ENUM64:
        more = size_t{12} * count;
    }
    at += 12 + more;
  }
  fail("no BTF of the function");
}

int bpf(bpf_cmd command, const bpf_attr& attr) {
  const long fd = syscall(SYS_bpf, command, &attr, sizeof attr);
  if (fd < 0) fail("bpf");
  return int(fd);
}

// A program that only returns: the kernel counts how often it runs.
class BpfEntry {
 public:
  explicit BpfEntry(const std::string& function) : type_(btf_function(function)) {
    bpf_attr stats = {};
    stats.enable_stats.type = BPF_STATS_RUN_TIME;
    bpf(BPF_ENABLE_STATS, stats);
  }
  bool on() {
    const bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
                             {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    bpf_attr load = {};
    load.prog_type = BPF_PROG_TYPE_TRACING;
    load.expected_attach_type = BPF_TRACE_FENTRY;
    load.attach_btf_id = type_;
    load.insns = reinterpret_cast<uint64_t>(code);
    load.insn_cnt = std::size(code);
    load.license = reinterpret_cast<uint64_t>("GPL");
    program_ = bpf(BPF_PROG_LOAD, load);
    bpf_attr attach = {};
    attach.raw_tracepoint.prog_fd = uint32_t(program_);
    link_ = bpf(BPF_RAW_TRACEPOINT_OPEN, attach);
    return true;
  }
  bool off() {
    close(link_);
    close(program_);
    return true;
  }
  uint64_t hits() const {
    bpf_prog_info info = {};
    bpf_attr ask = {};
    ask.info.bpf_fd = uint32_t(program_);
    ask.info.info_len = sizeof info;
    ask.info.info = reinterpret_cast<uint64_t>(&info);
    bpf(BPF_OBJ_GET_INFO_BY_FD, ask);
    return info.run_cnt;
  }

 private:
  uint32_t type_;
  int program_ = -1, link_ = -1;
};

class KprobeEvent {
 public:
  KprobeEvent(std::string name, std::string place)
      : name_(std::move(name)), place_(std::move(place)) {}
  bool on() const {
    echo("p:" + name_ + " " + place_ + "\n", "kprobe_events");
    echo("1", "events/kprobes/" + name_ + "/enable");
    return true;
  }
  bool off() const {
    echo("0", "events/kprobes/" + name_ + "/enable");
    echo("-:" + name_ + "\n", "kprobe_events");
    return true;
  }
  uint64_t hits() const {
    std::ifstream profile(kTracing + "kprobe_profile");
    std::string name;
    uint64_t count = 0, missed = 0;
    while (profile >> name >> count >> missed) {
      if (name == name_) return count;
    }
    fail("no event " + name_);
  }

 private:
  std::string name_, place_;
};

class FunctionTracer {
 public:
  explicit FunctionTracer(std::string function) : function_(std::move(function)) {}
  bool on() const {
    echo(function_, "set_ftrace_filter");
    echo("\n", "trace");
    echo("function", "current_tracer");
    return true;
  }
  static bool off() {
    echo("nop", "current_tracer");
    return true;
  }
  uint64_t hits() const {
    std::ifstream trace(kTracing + "trace");
    std::string line;
    uint64_t count = 0;
    while (std::getline(trace, line)) count += line.find(function_ + " <-") != std::string::npos;
    return count;
  }

 private:
  std::string function_;
};

struct Tool {
  const char* name;
  std::function<bool()> on, off;  // false: it stays as it was
  std::function<uint64_t()> hits;
  bool is_on = false;
  unsigned times = 0;  // it was switched on
};

template <typename T>
Tool tool(const char* name, T& of) {
  return {name, [&of] { return of.on(); }, [&of] { return of.off(); }, [&of] { return of.hits(); }};
}

class Rounds {
 public:
  Rounds(std::vector<Tool> tools, uint64_t seed) : tools_(std::move(tools)), chance_(seed) {}

  // Tool 0 is djtap's: it cannot be switched while the last one is on.
  void run(unsigned rounds) {
    for (unsigned i = 0; i < rounds && wrong_.empty(); i++) {
      turn(tools_[chance_() % tools_.size()]);
      check_hits();
    }
    for (size_t i = tools_.size(); i-- > 0;) {
      if (tools_[i].is_on) turn(tools_[i]);
    }
  }
  const std::vector<Tool>& tools() const { return tools_; }
  const std::string& wrong() const { return wrong_; }

 private:
  void turn(Tool& tool) {
    const bool can = &tool != tools_.data() || !tools_.back().is_on;
    const bool done = tool.is_on ? tool.off() : tool.on();
    if (done != can) note(tool, tool.is_on ? "off" : "on", done);
    if (!done) return;
    tool.is_on = !tool.is_on;
    tool.times += tool.is_on;
  }

  void check_hits() {
    std::vector<uint64_t> before;
    for (const Tool& tool : tools_) before.push_back(tool.is_on ? tool.hits() : 0);
    for (uint64_t i = 0; i < kUses; i++) use();
    for (size_t i = 0; i < tools_.size(); i++) {
      if (tools_[i].is_on && tools_[i].hits() - before[i] != kUses)
        note(tools_[i], "hits", tools_[i].hits() - before[i]);
    }
  }

  void note(const Tool& tool, const std::string& what, uint64_t value) {
    wrong_ += std::string(tool.name) + " " + what + " " + std::to_string(value) + "; ";
  }

  std::vector<Tool> tools_;
  std::mt19937_64 chance_;
  std::string wrong_;
};

int run(unsigned rounds, uint64_t seed) {
  constexpr uint64_t kLooked = 32;  // bytes before the place and from it on
  Device device;
  const DevicePlan plan(device,
                        movable_entries("", {"vfs_symlink", "vfs_rename", "vfs_unlink"}, 1));
  const Entry& entry = plan.entries().at(0);
  char place[32];
  std::snprintf(place, sizeof place, "0x%lx", entry.address);
  FunctionTracer ftrace(entry.name);
  KprobeEvent kprobe("kprobe_front", entry.name), above("kprobe_above", place);
  BpfEntry program(entry.name);
  std::vector<uint8_t> answers;
  const Tool own = {"djtap", [&] { return plan.arm()[0] == DJTAP_ARMED; },
                    [&] { return plan.disarm(answers) == 0; }, [&] { return plan.count(); }};
  const auto text = [&] { return read_memory(entry.address - kLooked, 2 * kLooked); };
  const std::vector<uint8_t> before = text();
  Rounds all({own, tool("ftrace", ftrace), tool("kprobe", kprobe), tool("bpf", program),
              tool("above", above)},
             seed);
  all.run(rounds);
  std::string times;
  for (const Tool& tool : all.tools())
    times += (times.empty() ? "\"" : ", \"") + std::string(tool.name) +
             "\": " + std::to_string(tool.times);
  std::printf("{\"function\": \"%s\", \"on\": {%s}, \"wrong\": \"%s\", \"same\": %s}\n",
              entry.name.c_str(), times.c_str(), all.wrong().c_str(),
              text() == before ? "true" : "false");
  return 0;
}

}  // namespace
}  // namespace dj

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: device_tracers ROUNDS SEED\n");
    return 2;
  }
  return dj::run(unsigned(std::stoul(words[1])), std::stoull(words[2]));
}
