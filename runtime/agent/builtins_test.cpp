// SPDX-License-Identifier: Apache-2.0
// Built-ins about thread, process and time, against what the C library says.
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstdlib>
#include <string>

#include "runtime/agent/arena_support.h"
#include "stdlib/entries.h"

namespace dj {
namespace {

class Builtins : public TestArena {};

TEST_F(Builtins, NameTheThread) {
  pthread_setname_np(pthread_self(), "some name");
  abi::Context* ctx = dj_enter(0);
  EXPECT_EQ(text(dj_execname(ctx)), "some name");
  char name[16];
  pthread_getname_np(pthread_self(), name, sizeof name);
  EXPECT_STREQ(name, "some name") << "reading changes nothing";
  dj_leave(ctx);
  EXPECT_EQ(dj_pid(), getpid());
  EXPECT_EQ(dj_tid(), syscall(SYS_gettid));
  EXPECT_EQ(dj_uid(), getuid());
  EXPECT_EQ(dj_target(), getpid());
  EXPECT_LT(dj_cpu_number(), header().cpus);
}

int64_t clock_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

TEST_F(Builtins, TimeIsTheKernels) {
  int64_t before = clock_ns(), now = dj_time_ns(), after = clock_ns();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
  const int64_t seconds = dj_time_s();
  EXPECT_GE(seconds, before / 1'000'000'000);
  EXPECT_LE(seconds, after / 1'000'000'000 + 1);
}

TEST_F(Builtins, TimeScalesCycles) {
  header().tsc_base = static_cast<uint64_t>(dj_cycles());
  header().time_base_ns = 1'000'000;
  header().tsc_mult = uint64_t{1} << (abi::kTscShift - 1);  // one cycle is half a nanosecond
  int64_t first = dj_cycles(), ns = dj_time_ns(), last = dj_cycles();
  int64_t base = static_cast<int64_t>(header().tsc_base);
  EXPECT_GE(ns, 1'000'000 + (first - base) / 2);
  EXPECT_LE(ns, 1'000'000 + (last - base) / 2);
  header().tsc_base += 1'000'000;  // another CPU's counter may be behind
  EXPECT_LT(dj_time_ns(), 1'000'000);
}

TEST_F(Builtins, NameTheProbePoint) {
  header().sites.offset = offset_of(take(2 * sizeof(abi::SiteInfo)));
  abi::SiteInfo* sites = header().sites.get(place());
  header().site_count = 2;
  const auto ref = [this](const char* text) {
    return static_cast<uint32_t>(abi::ref_to(&header(), dj_intern(str(text))));
  };
  sites[1].probefunc = {ref("vfs_read")};
  sites[1].pp = {ref("func(\"vfs_read\")")};
  EXPECT_EQ(text(dj_probefunc(1)), "vfs_read");
  EXPECT_EQ(text(dj_pp(1)), "func(\"vfs_read\")");
  EXPECT_EQ(text(dj_ppfunc(1)), "");
  EXPECT_EQ(text(dj_probefunc(0)), "");
  EXPECT_EQ(text(dj_probefunc(9)), "");
  EXPECT_EQ(words().exit_requested, 0u);
  dj_exit();
  EXPECT_EQ(words().exit_requested, 1u);
}

}  // namespace
}  // namespace dj
