// SPDX-License-Identifier: Apache-2.0
// The tables of SystemTap's options and limits.
#include "runtime/command/stap_options.h"

#include <algorithm>
#include <iterator>

namespace dj {
namespace {

constexpr std::string_view kNoModule = "nothing is built for a kernel: leave it out";
constexpr std::string_view kNoServer = "scripts are compiled in djtap itself: leave it out";
constexpr std::string_view kRemote = "run djtap on the other machine: ssh HOST djtap ...";
constexpr std::string_view kLimits = "set it in the shell: ulimit, or prlimit for a running djtap";
constexpr std::string_view kNoKernel = "djtap probes processes: -c 'command' or -p PID";
constexpr std::string_view kDebugFiles =
    "djtap reads the -dbg and -dbgsym packages that are installed, and asks no server";

constexpr StapOption kRows[] = {
    // what djtap does anyway
    {"-b", ""},
    {"-g", ""},  // what only guru mode may do is answered where the script asks for it
    {"-P", ""},
    {"-u", ""},
    {"--all-modules", ""},
    {"--check-version", ""},
    {"--dyninst", ""},
    {"--ldd", ""},
    {"--privilege", ""},
    {"--prologue-searching", ""},
    {"--unprivileged", ""},
    // questions
    {"--dump-functions", "man djtap-language names all functions, tapsets/ defines them"},
    {"--dump-probe-aliases", "djtap -l '**' -- command"},
    {"--dump-probe-types", "man djtap-probes lists all probe points"},
    {"--example", "examples/ are djtap's; SystemTap's lie in /usr/share/systemtap/examples"},
    // another way to say it
    {"-F", "let the session run behind the shell: setsid djtap -o FILE -S MB,FILES ... &"},
    {"--flight-recorder", "setsid djtap -o FILE -S MB,FILES ... &"},
    {"-k", "djtap keeps no working folder; --dump=ir,asm,plan prints what it makes"},
    {"-q", "leave it out: djtap prints no warnings of tapsets"},
    {"--clean-cache", "rm -r ~/.cache/djtap"},
    {"--save-uprobes", "--dump=probes prints every site"},
    {"--skip-badvars", "ask @defined($x), or write @choose_defined($x, 0)"},
    {"--sysenv", "set it in the shell, before djtap"},
    {"--target-namespaces", "start djtap inside the container: nsenter -t PID -a djtap ..."},
    {"--tmpdir", "TMPDIR=FOLDER djtap ..."},
    // another machine, a server, a kernel
    {"--remote", kRemote},
    {"--remote-prefix", kRemote},
    {"--use-server", kNoServer},
    {"--use-server-on-error", kNoServer},
    {"--list-servers", kNoServer},
    {"--trust-servers", kNoServer},
    {"--sign-module", kNoModule},
    {"-a", kNoModule},
    {"-B", kNoModule},
    {"-m", kNoModule},
    {"-r", kNoModule},
    {"-R", kNoModule},
    {"--compile-only", "--stop-after=lower makes the machine code and runs nothing"},
    {"--modinfo", kNoModule},
    {"--sysroot", "the program's own files are read, as they are mapped: leave it out"},
    {"--runtime", kNoKernel},
    {"--bpf", kNoKernel},
    {"--benchmark-sdt-loops", "tests/bench/hit.py measures djtap's probes"},
    {"--benchmark-sdt-threads", "tests/bench/hit.py measures djtap's probes"},
    {"--download-debuginfo", kDebugFiles},
    {"--rlimit-as", kLimits},
    {"--rlimit-cpu", kLimits},
    {"--rlimit-fsize", kLimits},
    {"--rlimit-nproc", kLimits},
    {"--rlimit-stack", kLimits},
};

// Of kprobes, of locks around globals, of the kernel module's own memory.
constexpr std::string_view kLimitsOfStap[] = {"INTERRUPTIBLE", "KRETACTIVE",  "MAXMEMORY",
                                              "MAXSKIPPED",    "MAXTRYLOCK",  "MAXUPROBES",
                                              "MINSTACKSPACE", "TRYLOCKDELAY"};

}  // namespace

const StapOption* stap_option(std::string_view word) {
  static constexpr StapOption kDyninst = {"--runtime", ""};  // what djtap is to SystemTap
  if (word == "--runtime=dyninst") return &kDyninst;
  const std::string_view name = word.substr(0, word.find('='));
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const StapOption& row) { return row.name == name; });
  return found == std::end(kRows) ? nullptr : found;
}

std::vector<std::string> with_named_warnings(std::vector<std::string> words) {
  std::vector<std::string> out;
  for (std::string& word : words) {
    const bool behind = word == "undeclared" && !out.empty() && out.back() == "-W";
    if (behind) out.pop_back();
    out.push_back(behind || word == "-Wundeclared" ? "--strict" : std::move(word));
  }
  return out;
}

bool is_stap_limit(std::string_view name) {
  if (name.starts_with("STP_") || name.starts_with("DEBUG_")) return true;
  return std::find(std::begin(kLimitsOfStap), std::end(kLimitsOfStap), name) !=
         std::end(kLimitsOfStap);
}

}  // namespace dj
