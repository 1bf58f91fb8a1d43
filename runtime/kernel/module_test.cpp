// SPDX-License-Identifier: Apache-2.0
// What keeps djtap's module out, in folders that look like a machine's: a sentence for each, and
// nothing is left behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "runtime/kernel/module_build.h"
#include "runtime/kernel/module_load.h"

namespace dj {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kRelease = "9.8.7-test";

// Machine: files of a kernel that takes modules, and of a root. make is a script.
class ModuleTest : public ::testing::Test {
 protected:
  ModuleTest() {
    std::string path = "/tmp/djtap-module-test-XXXXXX";
    root_ = mkdtemp(path.data());
    files_.release = kRelease;
    files_.modules = root_ + "/modules";
    files_.headers = root_ + "/headers";
    files_.kept = root_ + "/cache/kernel";
    files_.loaded = write("loaded", "ext4 1 0 - Live 0x0\n");
    files_.disabled = write("disabled", "0\n");
    files_.lockdown = write("lockdown", "[none] integrity confidentiality\n");
    files_.status = write("status", status(0, "000001ffffffffff"));
    files_.users = write("users", "         0          0 4294967295\n");
    write("headers/include/generated/utsrelease.h", "#define UTS_RELEASE \"9.8.7-test\"\n");
    write("headers/include/config/auto.conf", kConfig);
    write("headers/Module.symvers", "0x1 f vmlinux EXPORT_SYMBOL\n");
    write_program("bin/gcc-77", "exit 0");
    write_program("bin/make", kMake);
    fs::create_directories(root_ + "/tmp");
    setenv("PATH", (root_ + "/bin:/usr/bin:/bin").c_str(), 1);
    setenv("TMPDIR", (root_ + "/tmp").c_str(), 1);
    sigemptyset(&mask_);
  }
  ~ModuleTest() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("TMPDIR");
    fs::remove_all(root_);
  }

  static std::string status(int user, const std::string& capabilities) {
    const std::string id = std::to_string(user);
    return "Name:\tdjtap\nUid:\t" + id + "\t" + id + "\t" + id + "\t" + id + "\nCapEff:\t" +
           capabilities + "\n";
  }
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = root_ + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  void write_program(const std::string& name, const std::string& lines) const {
    chmod(write(name, "#!/bin/sh\n" + lines + "\n").c_str(), 0755);
  }
  void write_config(const std::string& without) const {
    std::string config = kConfig;
    config.erase(config.find(without), without.size());
    write("headers/include/config/auto.conf", config);
  }
  ModuleRecipe recipe() const { return module_recipe(files_).take(); }
  std::string recipe_error() const { return module_recipe(files_).error().message; }
  std::string open_error() const { return open_kernel(files_, mask_).error().message; }
  // All files below the folder.
  std::set<std::string> files_in(const std::string& folder) const {
    std::set<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root_ + "/" + folder, error))
      if (!entry.is_directory()) names.insert(fs::relative(entry.path(), root_));
    return names;
  }

  // Says what it was told, and writes the module of the sources that it finds.
  static constexpr const char* kMake =
      "echo make: \"$@\"; for word; do case $word in M=*) cd \"${word#M=}\";; esac; done\n"
      "cat Kbuild device.c > djtap.ko; env > env; echo \"$@\" >> env; cp env \"${0%/*}/../env\"";
  static constexpr const char* kConfig =
      "#\n# Automatically generated\n#\nCONFIG_CC_VERSION_TEXT=\"gcc-77 (Test) 77.1\"\n"
      "CONFIG_MODULES=y\nCONFIG_KPROBES=y\nCONFIG_KALLSYMS=y\nCONFIG_KALLSYMS_ALL=y\n";

  std::string root_, path_ = getenv("PATH");
  ModuleFiles files_;
  sigset_t mask_ = {};
};

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// --- before anything is loaded

TEST_F(ModuleTest, RootOfTheMachineOnly) {
  EXPECT_TRUE(check_root(files_).ok());
  write("status", status(1000, "000001ffffffffff"));
  EXPECT_EQ(check_root(files_).error().message, "the kernel needs root; or give -c or -p");
  EXPECT_EQ(open_error(), "the kernel needs root; or give -c or -p");
}

TEST_F(ModuleTest, RootOfAContainer) {
  constexpr const char* kSaid = "djtap is root in a container only: run djtap outside of it";
  write("status", status(0, "00000000a80425fb"));  // docker's
  EXPECT_THAT(open_error(), HasSubstr(kSaid));
  write("status", status(0, "000001ffffffffff"));
  write("users", "         0     100000      65536\n");
  EXPECT_THAT(open_error(), HasSubstr(kSaid));
}

TEST_F(ModuleTest, AKernelThatTakesNone) {
  write("lockdown", "none integrity [confidentiality]\n");
  EXPECT_THAT(open_error(), AllOf(StartsWith("the kernel is locked down (confidentiality)"),
                                  HasSubstr("or use bpftrace")));
  write("lockdown", "none [integrity] confidentiality\n");
  EXPECT_THAT(open_error(), StartsWith("the kernel is locked down (integrity)"));
  fs::remove(files_.lockdown);  // a kernel without it
  EXPECT_TRUE(check_takes_modules(files_).ok());
  write("disabled", "1\n");
  EXPECT_THAT(open_error(), HasSubstr("until the next boot (kernel.modules_disabled is 1)"));
  write("loaded", "djtap 45056 0 - Live 0x0\n");
  EXPECT_TRUE(is_module_loaded(files_));
  EXPECT_TRUE(check_takes_modules(files_).ok());
  fs::remove(files_.loaded);
  EXPECT_THAT(open_error(), StartsWith("this kernel has no modules (CONFIG_MODULES)"));
  EXPECT_THAT(files_in("cache"), IsEmpty());
}

TEST_F(ModuleTest, WhatTheKernelsAnswersMean) {
  const std::string file = write("djtap.ko", std::string("\x7f", 1) + "ELF" + std::string(1, 0) +
                                                 "vermagic=1.2.3 SMP " + std::string(1, 0) + "x");
  const auto said = [&](int number) { return load_refusal(number, file, files_).message; };
  for (const int number : {EKEYREJECTED, ENOKEY, EBADMSG})
    EXPECT_THAT(said(number),
                AllOf(StartsWith("the kernel loads signed modules only: sign " + file),
                      HasSubstr("mokutil --import")));
  EXPECT_EQ(said(ENOEXEC), file +
                               " is a module for another kernel (1.2.3 SMP); this is "
                               "9.8.7-test: remove it, and djtap builds one");
  EXPECT_THAT(said(EOPNOTSUPP), HasSubstr("modprobe djtap"));
  EXPECT_THAT(said(ENOENT), HasSubstr("needs a function that this kernel lacks"));
  EXPECT_THAT(said(EPERM), HasSubstr("SELinux"));
  write("lockdown", "none [integrity] confidentiality\n");
  EXPECT_THAT(said(EPERM), StartsWith("the kernel is locked down (integrity)"));
  EXPECT_THAT(said(ENOMEM), HasSubstr("Cannot allocate memory"));
}

TEST_F(ModuleTest, TheInstalledOne) {
  EXPECT_EQ(installed_module(files_), "");
  const std::string folder = files_.modules + "/" + kRelease + "/";
  write(std::string("modules/") + kRelease + "/modules.dep",
        "kernel/fs/ext4.ko: kernel/djtap.ko\nupdates/dkms/djtap.ko.xz:\n");
  EXPECT_EQ(installed_module(files_), folder + "updates/dkms/djtap.ko.xz");
}

// --- what a module is made of

TEST_F(ModuleTest, ARecipe) {
  const ModuleRecipe made = recipe();
  EXPECT_EQ(made.release, kRelease);
  EXPECT_EQ(made.compiler, "gcc-77");
  EXPECT_THAT(made.folder, StartsWith(files_.kept + "/" + kRelease + "-"));
  EXPECT_EQ(recipe().folder, made.folder);
  write("headers/Module.symvers", "0x2 f vmlinux EXPORT_SYMBOL\n");  // another kernel of that name
  EXPECT_NE(recipe().folder, made.folder);
}

TEST_F(ModuleTest, HeadersThatAreMissingOrOthers) {
  files_.release = "9.8.8";
  EXPECT_EQ(recipe_error(),
            "the headers in " + files_.headers + " are of kernel 9.8.7-test, not of 9.8.8");
  files_.headers.clear();
  EXPECT_EQ(recipe_error(), "the headers of kernel 9.8.8 are not in " + files_.modules +
                                "/9.8.8/build: apt-get install linux-headers-9.8.8, or name their "
                                "folder: djtap kernel-build 9.8.8 --headers FOLDER");
  EXPECT_EQ(module_recipe(files_).error().kind, Fail::NotFound);
}

TEST_F(ModuleTest, AKernelWithoutWhatItNeeds) {
  for (const std::string option :
       {"CONFIG_MODULES", "CONFIG_KPROBES", "CONFIG_KALLSYMS", "CONFIG_KALLSYMS_ALL"}) {
    write_config(option + "=y\n");
    EXPECT_THAT(recipe_error(), AllOf(StartsWith("kernel 9.8.7-test has no "),
                                      HasSubstr("(" + option + "), which djtap needs")));
  }
}

TEST_F(ModuleTest, ToolsThatAreMissing) {
  setenv("PATH", (root_ + "/bin").c_str(), 1);
  EXPECT_TRUE(check_tools(recipe()).ok());
  fs::remove(root_ + "/bin/gcc-77");
  constexpr const char* kSaid =
      "a module for kernel 9.8.7-test is built by gcc-77, which is not here: apt-get install "
      "gcc-77";
  EXPECT_EQ(check_tools(recipe()).error().message, kSaid);
  EXPECT_EQ(keep_module(recipe(), mask_).error().message, kSaid);
  fs::remove(root_ + "/bin/make");
  EXPECT_THAT(check_tools(recipe()).error().message, HasSubstr("is built by make, which is not"));
  EXPECT_THAT(files_in("cache"), IsEmpty());
  EXPECT_TRUE(fs::is_empty(root_ + "/tmp"));
}

TEST_F(ModuleTest, APackageHasAShortName) {
  ModuleRecipe made = recipe();
  made.compiler = "x86_64-linux-gnu-gcc-99";
  EXPECT_THAT(check_tools(made).error().message, HasSubstr("apt-get install gcc-99"));
}

// --- built and kept

TEST_F(ModuleTest, BuildsOnceAndKeeps) {
  EXPECT_EQ(kept_module(recipe()).error().kind, Fail::NotFound);
  setenv("MAKEFLAGS", "-n", 1);
  const Result<std::string> path = keep_module(recipe(), mask_);
  unsetenv("MAKEFLAGS");
  ASSERT_TRUE(path.ok()) << path.error().message;
  EXPECT_EQ(kept_module(recipe()).value(), path.value());
  EXPECT_EQ(text_in(path.value()),
            text_in(recipe().sources + "/Kbuild") + text_in(recipe().sources + "/device.c"));
  struct stat info = {};
  ASSERT_EQ(stat(path.value().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  EXPECT_EQ(files_in("cache").size(), 1u);
  EXPECT_TRUE(fs::is_empty(root_ + "/tmp"));
  const std::string told = text_in(root_ + "/env");
  EXPECT_THAT(told, AllOf(HasSubstr("CC=gcc-77"), HasSubstr("CONFIG_DEBUG_INFO_BTF_MODULES="),
                          HasSubstr("-C " + files_.headers)));
  EXPECT_THAT(told, Not(HasSubstr("MAKEFLAGS")));
}

TEST_F(ModuleTest, ANewOneReplacesThoseOfItsKernel) {
  write("cache/kernel/9.8.7-test-0123456789abcdef/djtap.ko", "of older sources");
  write("cache/kernel/9.8.7-0123456789abcdef/djtap.ko", "of another kernel");
  chmod((root_ + "/cache/kernel").c_str(), 0700);
  ASSERT_TRUE(keep_module(recipe(), mask_).ok());
  EXPECT_EQ(files_in("cache"),
            (std::set<std::string>{fs::relative(recipe().kept(), root_),
                                   "cache/kernel/9.8.7-0123456789abcdef/djtap.ko"}));
}

TEST_F(ModuleTest, ClangIsAFamily) {
  std::string config = kConfig;
  config.replace(config.find("gcc-77 (Test)"), 13, "clang-17 version");
  write("headers/include/config/auto.conf", config);
  write_program("bin/clang-17", "exit 0");
  ASSERT_TRUE(keep_module(recipe(), mask_).ok());
  EXPECT_THAT(text_in(root_ + "/env"), AllOf(HasSubstr("CC=clang-17"), HasSubstr("LLVM=-17")));
}

TEST_F(ModuleTest, SourcesThatDoNotCompile) {
  write_program("bin/make", "echo 'device.c:7:1: error: no such thing'; echo make: end; exit 2");
  const std::string log = files_.kept + "/build.log";
  EXPECT_EQ(keep_module(recipe(), mask_).error().message,
            "djtap's module does not compile for kernel 9.8.7-test with gcc-77: device.c:7:1: "
            "error: no such thing; the whole log is in " +
                log);
  EXPECT_EQ(text_in(log), "device.c:7:1: error: no such thing\nmake: end\n");
  EXPECT_EQ(files_in("cache"), std::set<std::string>{"cache/kernel/build.log"});
  EXPECT_TRUE(fs::is_empty(root_ + "/tmp"));
}

TEST_F(ModuleTest, AFileForAnotherMachine) {
  const std::string to = root_ + "/out.ko";
  ASSERT_TRUE(build_module(recipe(), to, mask_).ok());
  EXPECT_NE(text_in(to), "");
  EXPECT_THAT(files_in("cache"), IsEmpty());
  EXPECT_THAT(build_module(recipe(), root_ + "/none/out.ko", mask_).error().message,
              HasSubstr("No such file"));
  write_program("bin/make", "echo wrong; exit 2");
  fs::remove(to);
  EXPECT_THAT(build_module(recipe(), to, mask_).error().message,
              HasSubstr("wrong; the whole log is in " + to + ".log"));
  EXPECT_FALSE(fs::exists(to));
  EXPECT_TRUE(fs::is_empty(root_ + "/tmp"));
}

TEST_F(ModuleTest, IsEndedWithItsCompiler) {
  write_program("bin/make", "sleep 1000 & echo $! > \"${0%/*}/../pid\"; kill -TERM $PPID; wait");
  sigset_t term = {}, before = {};
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  const Result<std::string> path = keep_module(recipe(), mask_);
  const timespec now = {};
  EXPECT_EQ(sigtimedwait(&term, nullptr, &now), SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(path.error().message, HasSubstr("make was ended"));
  EXPECT_THAT(files_in("cache"), IsEmpty());
  EXPECT_TRUE(fs::is_empty(root_ + "/tmp"));
  const pid_t sleeper = std::stoi(text_in(root_ + "/pid"));
  for (int i = 0;
       i < 1000 && kill(sleeper, 0) == 0 &&
       text_in("/proc/" + std::to_string(sleeper) + "/stat").find(") Z") == std::string::npos;
       ++i)
    usleep(10'000);
  const std::string state = text_in("/proc/" + std::to_string(sleeper) + "/stat");
  EXPECT_TRUE(state.empty() || state.find(") Z") != std::string::npos) << state;
}

// --- what others could have written

TEST_F(ModuleTest, AFileThatOthersCouldWrite) {
  const std::string path = keep_module(recipe(), mask_).take();
  const auto why = [&] { return kept_module(recipe()).error().message; };
  chmod(path.c_str(), 0666);
  EXPECT_EQ(why(), path + " is not loaded: others may have written it; remove it as root");
  chmod(path.c_str(), 0644);
  chmod(recipe().folder.c_str(), 0777);
  EXPECT_EQ(why(), path + " is not loaded: others may write it; remove it as root");
  chmod(recipe().folder.c_str(), 0700);
  chmod((root_ + "/cache").c_str(), 0777);
  EXPECT_THAT(why(), HasSubstr("others may write cache of its path"));
  EXPECT_THAT(keep_module(recipe(), mask_).error().message, StartsWith("nothing is kept in "));
  chmod((root_ + "/cache").c_str(), 0700);
  EXPECT_TRUE(kept_module(recipe()).ok());
  fs::remove(path);
  fs::create_symlink(write("elsewhere.ko", "x"), path);
  EXPECT_EQ(why(), path + " is not loaded: it is a link; remove it as root");
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_THAT(why(), HasSubstr("others may have written it"));
}

TEST_F(ModuleTest, AFileOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const std::string path = keep_module(recipe(), mask_).take();
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_THAT(kept_module(recipe()).error().message, HasSubstr("others may have written it"));
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  ASSERT_EQ(chown(recipe().folder.c_str(), 65534, 65534), 0);
  EXPECT_THAT(kept_module(recipe()).error().message, HasSubstr("belongs to another user"));
}

}  // namespace
}  // namespace dj
