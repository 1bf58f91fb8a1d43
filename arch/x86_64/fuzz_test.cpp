// SPDX-License-Identifier: Apache-2.0
// Differential: windows of instructions of real libraries run where they stand and in a detour,
// from the same random registers, flags, vectors, memory and red zone, and must end the same: same
// state, same memory, same fault.
//   DJTAP_FUZZ_WINDOWS=N   how many (100,000)
//   DJTAP_FUZZ_SEED=S      repeats a run; with DJTAP_FUZZ_FIRST=I from window I on
// Without a seed it is always the same run, so that a failure is a change's; the long form
// (DJTAP_STRESS=long, scripts/stress) looks for new ones.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <random>

#include "arch/x86_64/test_fuzz.h"

namespace dj::arch {
namespace {

using test::Progress;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text ? strtoull(text, nullptr, 0) : otherwise;
}

// Shared with the children.
struct Shared {
  Shared()
      : progress(new(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Progress) {}
  ~Shared() { munmap(progress, sizeof(Progress)); }
  Progress* progress;
};

// A child runs windows from progress->next on. Its status, 0: it ended by itself.
int run_child(const std::vector<test::Source>& sources, uint64_t seed, uint64_t end,
              Progress& progress) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(600);
    test::Fuzzer(sources, seed, progress).run(end);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

// Whether the window that has just ended otherwise does so again, from the same state. If not, it
// has read memory that the process changes by itself.
bool recurs(const std::vector<test::Source>& sources, uint64_t seed, Progress& progress) {
  const Progress before = progress;
  progress.message[0] = 0;
  const int status = run_child(sources, seed, before.next + 1, progress);
  const bool differs = status != 0 || progress.message[0] != 0;
  progress = before;
  if (differs) return true;
  printf("once only: DJTAP_FUZZ_SEED=%lu DJTAP_FUZZ_FIRST=%lu: %s\n", seed, before.next,
         before.message);
  progress.message[0] = 0;
  return false;
}

TEST(Fuzz, WindowsOfRealCodeInTheirDetours) {
  const uint64_t seed =
      setting("DJTAP_FUZZ_SEED", getenv("DJTAP_STRESS") ? std::random_device{}() : 1);
  const uint64_t first = setting("DJTAP_FUZZ_FIRST", 0);
  const uint64_t windows = setting("DJTAP_FUZZ_WINDOWS", 100'000);
  printf("DJTAP_FUZZ_SEED=%lu\n", seed);
  const std::vector<test::Source> sources = test::read_sources();
  ASSERT_FALSE(sources.empty());
  Shared shared;
  Progress& progress = *shared.progress;
  progress.next = first;
  uint64_t lost = 0;  // wrote into the test itself, or hung: nothing can be said
  while (progress.next < first + windows && progress.message[0] == 0) {
    const uint64_t end = std::min(progress.next + 20'000, first + windows);
    const int status = run_child(sources, seed, end, progress);
    if (status == 0 && progress.message[0] == 0) continue;
    if (status == 0 && recurs(sources, seed, progress)) break;
    printf("lost: DJTAP_FUZZ_SEED=%lu DJTAP_FUZZ_FIRST=%lu\n", seed, progress.next);
    ASSERT_FALSE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << "a CHECK failed";
    lost++;
    progress.next++;
  }
  ASSERT_STREQ(progress.message, "")
      << "DJTAP_FUZZ_SEED=" << seed << " DJTAP_FUZZ_FIRST=" << progress.next;
  printf(
      "%lu windows of %zu files: %lu instructions, %lu windows with relative ones, %lu ended "
      "behind the window, %lu faulted; %lu lost\n",
      windows, sources.size(), progress.instructions, progress.relative, progress.through,
      progress.faulted, lost);
  EXPECT_LE(lost, windows / 1000);
  EXPECT_GT(progress.relative, windows / 10);
  EXPECT_GT(progress.through, windows / 4);
  EXPECT_GT(progress.faulted, windows / 50);
}

}  // namespace
}  // namespace dj::arch
