// SPDX-License-Identifier: Apache-2.0
// Asks the kernel, and tries what can be tried: ptrace on a child, the loader of LLVM.
#include "runtime/run/doctor/machine.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "compiler/base/counted.h"
#include "compiler/tapset/library.h"
#include "runtime/memory/thread_rows.h"
#include "runtime/patch/file_cache.h"
#include "runtime/process/control_group.h"
#include "runtime/process/launch.h"
#include "runtime/process/map_query.h"
#include "runtime/process/rights.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/run/lowering.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

// Machine: what several rows ask for.
struct Machine {
  Status traced = ok_status();     // a child of djtap could be stopped
  std::optional<RseqArea> rseq{};  // of that child
};

std::string of_kernel(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

bool may_trace_all(const Credentials& own) { return (own.capabilities >> CAP_SYS_PTRACE & 1) != 0; }

Verdicts look_at_kernel(Machine&) {
  constexpr int kMajor = 5, kMinor = 13;  // PTRACE_GET_RSEQ_CONFIGURATION
  utsname name = {};
  int major = 0, minor = 0;
  uname(&name);
  const bool known = std::sscanf(name.release, "%d.%d", &major, &minor) == 2;
  const bool old = known && (major < kMajor || (major == kMajor && minor < kMinor));
  if (!old) return {{Health::Ok, fmt::format("Linux {}", name.release)}};
  return {{Health::Limited, fmt::format("Linux {}: djtap is made for {}.{} and later", name.release,
                                        kMajor, kMinor)}};
}

Verdicts look_at_tracing(Machine& machine) {
  if (machine.traced.ok()) return {{Health::Ok, "a program that djtap starts can be stopped"}};
  return {{Health::Fails, machine.traced.error().message}};
}

Verdicts look_at_ptrace_scope(Machine&) {
  const std::string scope = of_kernel("/proc/sys/kernel/yama/ptrace_scope");
  if (scope.empty()) return {{Health::Ok, "this kernel has no such limit (Yama)"}};
  if (scope == "0") return {{Health::Ok, "0: processes of the same user may trace each other"}};
  const Result<Credentials> own = credentials_of(getpid());
  if (scope != "3" && own.ok() && may_trace_all(own.value()))
    return {{Health::Ok, scope + ": djtap has CAP_SYS_PTRACE"}};
  if (scope == "1")
    return {
        {Health::Limited, "1: programs that djtap starts (-c, --) can be traced, others (-p) not"}};
  if (scope == "2")
    return {{Health::Limited, "2: only who has CAP_SYS_PTRACE may trace",
             "run djtap as root, or as root: sysctl kernel.yama.ptrace_scope=0"}};
  return {{Health::Limited, scope + ": nobody may trace, until the next boot",
           "remove kernel.yama.ptrace_scope from /etc/sysctl.d, and boot"}};
}

Verdicts look_at_own_filter(Machine&) {
  if (!is_confined(getpid())) return {{Health::Ok, "djtap runs under no seccomp filter"}};
  return {{Health::Limited,
           "djtap runs under a seccomp filter, and so do the programs that it starts: the kernel "
           "shows filters only to who has none, and what djtap cannot read is refused"}};
}

Verdicts look_at_capabilities(Machine&) {
  const Result<Credentials> own = credentials_of(getpid());
  if (!own.ok()) return {{Health::Note, own.error().message}};
  const uint64_t all = own.value().capabilities;
  if (may_trace_all(own.value()))
    return {{Health::Ok, fmt::format("{:#x}: also processes of other users can be traced", all)}};
  return {{Health::Note,
           fmt::format("{}: processes of user {} can be traced, but for setuid programs",
                       all == 0 ? "none" : fmt::format("{:#x}, without CAP_SYS_PTRACE", all),
                       geteuid()),
           "for others run djtap as root: it takes over the target's user (SECURITY.md)"}};
}

Verdicts look_at_rseq(Machine& machine) {
  if (!machine.traced.ok()) return {{Health::Note, "not known, as nothing can be traced"}};
  if (machine.rseq)
    return {{Health::Ok, "programs register their threads (restartable sequences)"}};
  return {{Health::Limited, "threads are not registered with rseq: handlers count with locks"}};
}

Verdicts look_at_fsgsbase(Machine&) {
  if (has_fsgsbase()) return {{Health::Ok, "programs may set their gs base (FSGSBASE)"}};
  return {
      {Health::Limited,
       "programs may not set their gs base: threads have no rows of their own, and a counter is "
       "a call"}};
}

Verdicts look_at_map_queries(Machine&) {
  if (MapQuery::open(getpid())) return {{Health::Ok, "single mappings can be asked for"}};
  return {{Health::Note,
           "not there: each look at a process reads all its mappings, which takes milliseconds "
           "where there are thousands",
           "Linux 6.11 has it"}};
}

Verdicts look_at_max_map_count(Machine&) {
  const std::string most = of_kernel("/proc/sys/vm/max_map_count");
  return {{most.empty() ? Health::Note : Health::Ok,
           most.empty() ? "not known"
                        : most + " mappings a process, of which djtap leaves half to the program"}};
}

Verdicts look_at_overcommit(Machine&) {
  const std::string mode = of_kernel("/proc/sys/vm/overcommit_memory");
  if (mode != "2") return {{Health::Ok, fmt::format("vm.overcommit_memory is {}", mode)}};
  return {
      {Health::Limited,
       "vm.overcommit_memory is 2: each session's address space counts as memory, used or not"}};
}

// djtap starts a program and, for others' processes, a broker; a thread for each processor helps
// it.
Verdicts look_at_tasks(Machine&) {
  constexpr unsigned kMost = 16;  // threads (parallel.h)
  const uint64_t wanted = 2 + std::min(kMost, std::thread::hardware_concurrency());
  const std::optional<GroupLimit> limit = group_limit(getpid(), GroupResource::Tasks);
  if (!limit) return {{Health::Ok, "djtap's control group has no limit of threads"}};
  const std::string what =
      fmt::format("djtap's control group may have {} more ({}); djtap takes {}",
                  counted(limit->left(), "thread"), limit->file, wanted);
  if (limit->left() >= wanted) return {{Health::Ok, what}};
  return {{Health::Limited, what + ": with fewer it starts more slowly, or starts no program"}};
}

constexpr Row<Machine> kOfMachine[] = {
    {"kernel", look_at_kernel, "boot a later kernel"},
    {"ptrace", look_at_tracing,
     "in a container: --cap-add=SYS_PTRACE, or a seccomp profile that allows ptrace"},
    {"ptrace scope", look_at_ptrace_scope,
     "as root: sysctl kernel.yama.ptrace_scope=0; or run djtap as root; or let djtap start the "
     "program"},
    {"seccomp", look_at_own_filter,
     "run djtap outside of the sandbox (docker run --security-opt seccomp=unconfined)"},
    {"capabilities", look_at_capabilities, ""},
    {"rseq", look_at_rseq,
     "a C library that registers (glibc 2.35), without GLIBC_TUNABLES=glibc.pthread.rseq=0"},
    {"FSGSBASE", look_at_fsgsbase, "boot without nofsgsbase; processors since 2012 have it"},
    {"PROCMAP_QUERY", look_at_map_queries, ""},
    {"max_map_count", look_at_max_map_count, ""},
    {"overcommit", look_at_overcommit,
     "as root: sysctl vm.overcommit_memory=0; or ask for less: -D RINGBYTES=, STRINGBYTES=, "
     "MAXMAPENTRIES="},
    {"threads", look_at_tasks, "raise the limit (pids.max; docker run --pids-limit)"},
};

Verdicts look_at_code_generator(const NeededFiles&) {
  const Status loaded = load_lowering();
  if (!loaded.ok()) return {{Health::Fails, loaded.error().message}};
  return {{Health::Ok, "LLVM is there"}};
}

Verdicts look_at_tapsets(const NeededFiles& files) {
  Verdicts found;
  std::error_code error;
  const TapsetFolders folders = tapset_folders(files.tapsets);
  for (const std::string& folder : folders.paths) {
    if (!fs::is_directory(folder, error)) continue;
    size_t files = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const fs::path ending = entry.path().extension();
      files += ending == ".djt" || ending == ".djtm" || ending == ".lua";
    }
    if (files > 0)
      found.push_back({Health::Ok, fmt::format("{} in {}", counted(files, "file"), folder)});
  }
  if (!folders.lack.empty()) found.push_back({Health::Limited, folders.lack});
  return found;
}

Verdicts look_at_cache(const NeededFiles& files) {
  if (!files.cache) return {{Health::Note, "--no-cache: nothing is kept"}};
  const FileCache kept = FileCache::of_user({});
  const std::string why = kept.why_not();
  if (why.empty()) return {{Health::Ok, kept.path() + " can be written"}};
  return {{Health::Limited, fmt::format("nothing can be kept{}: {}; each session analyses all anew",
                                        kept.path().empty() ? "" : " in " + kept.path(), why)}};
}

constexpr Row<const NeededFiles> kFileRows[] = {
    {"code generator", look_at_code_generator,
     "install djtap's package again; install what libdjtap_lower.so needs (ldd shows it)"},
    {"tapsets", look_at_tapsets,
     "install djtap's package again, or keep djtap with its tapsets and VERSION"},
    {"cache", look_at_cache,
     "name a folder of your own that nobody else can write: XDG_CACHE_HOME=FOLDER"},
};

// Stops a child of djtap's that executes nothing.
void try_tracing(Machine& machine) {
  const Result<ForkedChild> child = ForkedChild::fork({"true"});
  if (!child.ok()) {
    machine.traced = child.error();
    return;
  }
  const Result<Stopped> stopped = Stopped::stop(child.value().pid());
  if (!stopped.ok()) {
    machine.traced = stopped.error();
    return;
  }
  const Result<std::optional<RseqArea>> area = stopped.value().rseq(child.value().pid());
  if (area.ok()) machine.rseq = area.value();
}

}  // namespace

void examine_machine(Findings& findings) {
  Machine machine;
  try_tracing(machine);
  for (const Row<Machine>& row : kOfMachine) examine(row, machine, findings);
}

void examine_files(const NeededFiles& files, Findings& findings) {
  for (const Row<const NeededFiles>& row : kFileRows) examine(row, files, findings);
}

}  // namespace dj
