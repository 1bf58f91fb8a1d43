// SPDX-License-Identifier: Apache-2.0
// Which processes a name means.
#include "runtime/process/named_processes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "runtime/process/victim.h"

namespace dj {
namespace {

const char* const kWaits = R"(
#include <stdio.h>
#include <unistd.h>
int main() {
  printf("ready\n");
  fflush(stdout);
  pause();
})";

// The program under another name, which no other process has.
std::string copy_called(const VictimFolder& folder, const std::string& name) {
  const std::string path = folder.path() + "/" + name;
  std::filesystem::copy_file(compile_victim(kWaits), path);
  return path;
}

TEST(NamedProcesses, ANameIsThatOfTheKernelOrOfTheFile) {
  EXPECT_TRUE(is_called("nginx", "nginx", "nginx"));
  EXPECT_TRUE(is_called("worker", "worker", "nginx"));
  EXPECT_TRUE(is_called("nginx", "worker", "nginx"));
  EXPECT_FALSE(is_called("ngin", "nginx", "nginx"));
  EXPECT_FALSE(is_called("nginx", "ngin", ""));
  EXPECT_FALSE(is_called("", "nginx", "nginx"));
}

TEST(NamedProcesses, TheKernelCutsNamesOff) {
  EXPECT_TRUE(is_called("a-script-of-fifteen.py", "a-script-of-fif", "python3.11"));
  EXPECT_TRUE(is_called("a-script-of-fif", "a-script-of-fif", "python3.11"));
  EXPECT_TRUE(is_called("a-program-of-fifteen", "a-program-of-fi", "a-program-of-fifteen"));
  EXPECT_FALSE(is_called("a-program-of-fifty", "a-program-of-fi", "a-program-of-fifteen"));
  EXPECT_FALSE(is_called("a-script-of-fift", "a-script-of", "python3.11"));
}

TEST(NamedProcesses, TheOldestIsFirst) {
  const VictimFolder folder;
  const std::string name = "named" + std::to_string(getpid());
  const std::string path = copy_called(folder, name);
  Victim first({path});
  EXPECT_EQ(first.line(), "ready");
  usleep(30'000);  // start times are in ticks of 10 ms
  Victim second({path});
  EXPECT_EQ(second.line(), "ready");
  const NamedProcesses found = find_named_processes(name);
  EXPECT_EQ(found.pids, (std::vector<pid_t>{first.pid(), second.pid()}));
  EXPECT_TRUE(found.left_out.empty());
  EXPECT_EQ(std::ranges::count(process_names(), name), 1);
  EXPECT_TRUE(find_named_processes(name + "x").pids.empty());
}

TEST(NamedProcesses, AFileMayHaveGone) {
  const VictimFolder folder;
  const std::string name = "a-long-name-of-" + std::to_string(getpid());
  const std::string path = copy_called(folder, name);
  Victim victim({path});
  EXPECT_EQ(victim.line(), "ready");
  std::filesystem::remove(path);
  EXPECT_EQ(find_named_processes(name).pids, std::vector<pid_t>{victim.pid()});
}

TEST(NamedProcesses, AFileIsThatOfTheProgramOrOfALibrary) {
  const VictimFolder folder;
  const std::string path = copy_called(folder, "of-a-file"), other = copy_called(folder, "other");
  const std::string library = folder.path() + "/lib.so";
  ASSERT_EQ(
      system(("echo 'int f(void) { return 1; }' | gcc -shared -fPIC -x c -o " + library + " -")
                 .c_str()),
      0);
  Victim runs({path});
  Victim maps({"env", "LD_PRELOAD=" + library, other});
  EXPECT_EQ(runs.line(), "ready");
  EXPECT_EQ(maps.line(), "ready");
  EXPECT_EQ(find_processes_of({*file_number(path)}).pids, std::vector<pid_t>{runs.pid()});
  EXPECT_EQ(find_processes_of({*file_number(library)}).pids, std::vector<pid_t>{maps.pid()});
  EXPECT_EQ(find_processes_of({*file_number(path), *file_number(library)}).pids.size(), 2u);
  EXPECT_TRUE(find_processes_of({}).pids.empty());
  EXPECT_EQ(mapped_files()[*file_number(library)], library);
}

}  // namespace
}  // namespace dj
