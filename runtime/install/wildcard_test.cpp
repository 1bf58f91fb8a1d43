// SPDX-License-Identifier: Apache-2.0
// Thousands of probes at once: every function, and every return, of the C library.
#include "runtime/install/trial.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

// Every function of libc and ld.so in a program that makes threads, processes and signals; its
// output is its proof.
constexpr char kEverything[] = R"(
#define _GNU_SOURCE
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char** environ;
static void* thread(void* p) {
  char* t = 0; long n = 0;
  for (int i = 0; i < 300; i++) { free(t); asprintf(&t, "%d %s %f", i, "text", i * 0.5); n += strlen(t); }
  free(t); *(long*)p = n; return p;
}
static int order(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(void) {
  char c;
  puts("ready"); fflush(stdout);
  read(0, &c, 1);
  for (int round = 0; round < 20; round++) {
    pthread_t t[4]; long n[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, thread, &n[i]);
    int all[500]; for (int i = 0; i < 500; i++) all[i] = (i * 7919) % 500;
    qsort(all, 500, sizeof *all, order);
    for (int i = 0; i < 500; i++) if (all[i] != i) puts("unsorted");
    if (system("exit 3") != 3 << 8) puts("system");
    pid_t pid; char* argv[] = {"true", 0}; int status;
    if (posix_spawnp(&pid, "true", 0, 0, argv, environ) != 0 || waitpid(pid, &status, 0) != pid || status) puts("spawn");
    pid = vfork(); if (pid == 0) _exit(5);
    waitpid(pid, &status, 0); if (WEXITSTATUS(status) != 5) puts("vfork");
    pid = fork(); if (pid == 0) { thread(n); _exit(6); }
    waitpid(pid, &status, 0); if (WEXITSTATUS(status) != 6) puts("fork");
    regex_t r; regcomp(&r, "a(b*)c", REG_EXTENDED); if (regexec(&r, "xxabbbc", 0, 0, 0)) puts("regex"); regfree(&r);
    for (int i = 0; i < 4; i++) { pthread_join(t[i], 0); if (n[i] != n[0]) puts("thread"); }
  }
  puts("done"); return 0;
})";

void probe_everything(const PatchOptions& options, bool returns) {
  Victim victim({compile_victim(kEverything)});
  EXPECT_EQ(victim.line(), "ready");
  Trial session;
  session.modules = mapped_modules(victim.pid()).value();
  session.add_handler(Handler::Form::Boundary);
  for (const MappedModule& module : session.modules) {
    bool probed = module.path.find("libc.so.6") != std::string::npos ||
                  module.path.find("ld-linux") != std::string::npos;
    if (!probed) {
      continue;
    }
    session.plan.modules.push_back({module.path, ""});
    Result<arch::ModuleText> text = read_text(module.open_path);
    ModuleCode& code = *session.codes->get(module).value();
    for (const arch::FunctionRange& function : text.value().functions) {
      // The agent written by hand keeps no calls.
      if (returns && code.exits(function.begin, function.end).shared) continue;
      Site site;
      site.module = static_cast<ModuleId>(session.plan.modules.size() - 1);
      site.kind = returns ? SiteKind::Return : SiteKind::Entry;
      site.address = site.function_begin = function.begin;
      site.function_end = function.end;
      site.handlers = {0};
      session.plan.sites.push_back(site);
    }
  }
  // The agent written by hand knows one int3 only: sites that need one are left out.
  std::vector<Site> jumps;
  {
    const DetourPlan all = session.plan_all(options, true);
    std::set<SiteId> unfit;
    for (const InstalledSite& site : list_sites(all.patches, all.modules)) {
      if (!site.reason.empty()) {
        unfit.insert(site.site);
      }
    }
    for (SiteId id = 0; id < session.plan.sites.size(); id++) {
      if (unfit.count(id) == 0) {
        jumps.push_back(session.plan.sites[id]);
      }
    }
  }
  session.plan.sites = jumps;
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    session.install(stopped.value(), options);
  }
  std::map<std::string, size_t> states;
  for (const InstalledSite& site : session.installation->sites()) {
    states[std::string(site_state_name(site.state)) + " " + site.reason]++;
  }
  for (const auto& [state, count] : states) {
    std::printf("%6zu %s\n", count, state.c_str());
  }
  const InstallTimes& times = session.installation->times();
  std::printf("prepare %.1f ms, link %.1f, detours %.1f, move %.1f, patch %.1f\n",
              times.prepare_ns / 1e6, times.link_ns / 1e6, times.detours_ns / 1e6,
              times.move_ns / 1e6, times.patch_ns / 1e6);
  victim.say("g");
  EXPECT_EQ(victim.line(), "done");
  EXPECT_GT(session.count(), 100000u);
  EXPECT_EQ(victim.wait(), 0);
}

TEST(Install, AllFunctionsOfLibc) { probe_everything({.guards = arch::Guards::None}, false); }
TEST(Install, AllReturnsOfLibc) { probe_everything({.guards = arch::Guards::None}, true); }

}  // namespace
}  // namespace dj
