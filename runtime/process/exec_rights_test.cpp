// SPDX-License-Identifier: Apache-2.0
// What lost_by_tracing() says is what the kernel does: a program tells which ids and rights it has
// when it is executed traced, and when not.
#include "runtime/process/exec_rights.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <functional>

#include "runtime/process/exec_tracee.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

constexpr uid_t kUser = 4711, kOther = 4712;

constexpr char kIds[] = R"(
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  char line[200], rights[50] = "";
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status)) sscanf(line, "CapPrm: %49s", rights);
  printf("%d %d %s\n", geteuid(), getegid(), rights);
  return 0;
})";

void become_user() {
  if (setgroups(0, nullptr) != 0 || setresgid(kUser, kUser, kUser) != 0 ||
      setresuid(kUser, kUser, kUser) != 0)
    abort();
  prctl(PR_SET_DUMPABLE, 1);  // the user's processes trace each other
}

std::string all_of(int fd) {
  std::string text;
  for (char c; read(fd, &c, 1) == 1;) text += c;
  close(fd);
  return text;
}

// What `act`, with a descriptor to write to, says in a child of its own.
std::string in_child(const std::function<void(int)>& act) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  const pid_t pid = fork();
  if (pid == 0) {
    act(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  const std::string text = all_of(ends[0]);
  waitpid(pid, nullptr, 0);
  return text;
}

// A process that executes `path` when it is told so, and says what it is then.
struct Executor {
  pid_t pid = 0;
  int go = -1, says = -1;
};

Executor executor(const std::string& path, const std::function<void()>& before) {
  int go[2], says[2], ready[2];
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(says, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0)
    abort();
  const pid_t pid = fork();
  if (pid == 0) {
    before();
    close(go[1]);
    dup2(says[1], 1);
    char byte = 0;
    if (write(ready[1], "r", 1) == 1 && read(go[0], &byte, 1) == 1)
      execl(path.c_str(), path.c_str(), nullptr);
    _exit(127);
  }
  for (const int each : {go[0], says[1], ready[1]}) close(each);
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) abort();
  close(ready[0]);
  return {pid, go[1], says[0]};
}

std::string executed(const Executor& process) {
  if (write(process.go, "x", 1) != 1) abort();
  close(process.go);
  return all_of(process.says);
}

class ExecRights : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root makes programs with rights";
  }

  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
  // A copy of the program.
  std::string program(const std::string& name, uid_t uid = 0, gid_t gid = 0, mode_t mode = 0755) {
    std::filesystem::copy_file(compile_victim(kIds, "-O1 -static"), file(name));
    if (chown(file(name).c_str(), uid, gid) != 0 || chmod(file(name).c_str(), mode) != 0) abort();
    return file(name);
  }
  std::string script(const std::string& name, const std::string& interpreter) {
    std::ofstream(file(name)) << "#! " << interpreter << " -x\n";
    if (chmod(file(name).c_str(), 04755) != 0) abort();  // which means nothing of a script
    return file(name);
  }
  // What lost_by_tracing() says to the user, of a process of the user. It must say something where
  // the traced program is another than the other one.
  static std::string lost(const std::string& path, const std::function<void()>& before = [] {});

  VictimFolder folder_;
};

std::string ExecRights::lost(const std::string& path, const std::function<void()>& before) {
  std::string untraced, said;
  const std::string traced = in_child([&](int out) {
    const auto start = [&] {
      become_user();
      before();
    };
    const Executor process = executor(path, start);
    become_user();
    Result<ExecTracee> tracee = ExecTracee::seize(process.pid);
    if (!tracee.ok()) return;
    if (write(process.go, "x", 1) != 1) abort();
    close(process.go);
    while (tracee.value().poll() == ExecTracee::State::Running) usleep(100);
    tracee.value().let_go();
    const std::string text = all_of(process.says);
    static_cast<void>(!write(out, text.data(), text.size()));
    waitpid(process.pid, nullptr, 0);
  });
  said = in_child([&](int out) {
    const Executor process = executor(path, [&] {
      become_user();
      before();
    });
    become_user();
    const std::string text = lost_by_tracing(process.pid, path);
    executed(process);
    static_cast<void>(!write(out, text.data(), text.size()));
    waitpid(process.pid, nullptr, 0);
  });
  untraced = in_child([&](int out) {
    become_user();
    before();
    dup2(out, 1);
    execl(path.c_str(), path.c_str(), nullptr);
  });
  EXPECT_FALSE(traced.empty()) << path;
  EXPECT_EQ(said.empty(), traced == untraced) << path << ": " << traced << " and " << untraced;
  return said;
}

void set_capabilities(const std::string& path) {
  // VFS_CAP_REVISION_2, effective; CAP_NET_RAW permitted.
  const uint32_t data[] = {0x02000001, 1u << 13, 0, 0, 0};
  if (setxattr(path.c_str(), "security.capability", data, sizeof data, 0) != 0) abort();
}

TEST_F(ExecRights, Setuid) {
  EXPECT_EQ(lost(program("plain")), "");
  EXPECT_EQ(lost(program("root", 0, 0, 04755)), "the setuid bit");
  EXPECT_EQ(lost(program("other", kOther, 0, 04755)), "the setuid bit");
  EXPECT_EQ(lost(program("own", kUser, 0, 04755)), "");
}

TEST_F(ExecRights, Setgid) {
  EXPECT_EQ(lost(program("group", 0, kOther, 02755)), "the setgid bit");
  EXPECT_EQ(lost(program("own", 0, kUser, 02755)), "");
  EXPECT_EQ(lost(program("lock", 0, kOther, 02745)), "");  // no right to execute for the group
}

TEST_F(ExecRights, FileCapabilities) {
  set_capabilities(program("capable"));
  EXPECT_EQ(lost(file("capable")), "file capabilities");
}

TEST_F(ExecRights, NoNewPrivileges) {
  set_capabilities(program("capable"));
  const auto forbid = [] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); };
  EXPECT_EQ(lost(file("capable"), forbid), "");
  EXPECT_EQ(lost(program("root", 0, 0, 04755), forbid), "");
}

TEST_F(ExecRights, AScriptHasItsInterpretersRights) {
  EXPECT_EQ(lost(script("script", program("root", 0, 0, 04755))), "the setuid bit");
  EXPECT_EQ(lost(script("second", file("script"))), "the setuid bit");
  EXPECT_EQ(lost(script("plain", program("tool"))), "");
}

TEST_F(ExecRights, AMountWithoutSetuid) {
  std::filesystem::create_directory(file("mount"));
  if (mount("djtap", file("mount").c_str(), "tmpfs", MS_NOSUID, "mode=755") != 0)
    GTEST_SKIP() << "no mount";
  const std::string path = program("mount/root", 0, 0, 04755);
  EXPECT_EQ(lost(path), "");
  umount2(file("mount").c_str(), MNT_DETACH);
}

TEST_F(ExecRights, ATracerThatMayTraceAllTakesNothing) {
  const Executor process = executor(program("root", 0, 0, 04755), become_user);
  EXPECT_EQ(lost_by_tracing(process.pid, file("root")), "");
  executed(process);
  waitpid(process.pid, nullptr, 0);
}

// The path is the process's: from its folder, its root, its descriptors.
TEST_F(ExecRights, SeesWhatTheProcessSees) {
  program("root", 0, 0, 04755);
  std::filesystem::create_directory(file("below"));
  int descriptor = -1;
  const auto said = [&](const std::string& path, const std::function<void()>& before, int folder) {
    return in_child([&](int out) {
      const Executor process = executor("/", [&] {
        before();
        become_user();
      });
      become_user();
      const std::string text = lost_by_tracing(process.pid, path, folder);
      static_cast<void>(!write(out, text.data(), text.size()));
      kill(process.pid, SIGKILL);
      waitpid(process.pid, nullptr, 0);
    });
  };
  const std::string right = "the setuid bit";
  const auto go_there = [&] { EXPECT_EQ(chdir(file("below").c_str()), 0); };
  EXPECT_EQ(said("../root", go_there, AT_FDCWD), right);
  EXPECT_EQ(said("root", go_there, AT_FDCWD), "");  // there is none
  descriptor = open(folder_.path().c_str(), O_PATH);
  EXPECT_EQ(said("root", go_there, descriptor), right);
  close(descriptor);
  descriptor = open(file("root").c_str(), O_PATH);
  EXPECT_EQ(said("", [] {}, descriptor), right);
  const std::string number = std::to_string(descriptor);
  EXPECT_EQ(said("/proc/self/fd/" + number, [] {}, AT_FDCWD), right);
  EXPECT_EQ(said("/dev/fd/" + number, [] {}, AT_FDCWD), right);
  close(descriptor);
}

TEST_F(ExecRights, SeesAnotherRoot) {
  program("root", 0, 0, 04755);
  std::filesystem::create_directory(file("below"));
  ASSERT_EQ(symlink("/root", file("below/link").c_str()), 0);
  for (const char* path : {"/root", "/below/link", "link"}) {
    const std::string text = in_child([&](int out) {
      const Executor process = executor("/", [&] {
        if (chroot(folder_.path().c_str()) != 0 || chdir("/below") != 0) abort();
        become_user();
      });
      become_user();
      const std::string said = lost_by_tracing(process.pid, path);
      static_cast<void>(!write(out, said.data(), said.size()));
      kill(process.pid, SIGKILL);
      waitpid(process.pid, nullptr, 0);
    });
    EXPECT_EQ(text, "the setuid bit") << path;
  }
}

}  // namespace
}  // namespace dj
