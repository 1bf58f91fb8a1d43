// SPDX-License-Identifier: Apache-2.0
// Packages of files, from a folder that is made as dpkg's.
#include "compiler/resolve/debug_package.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/base/target_file.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

class Lists : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/dj_lists_XXXXXX";
    folder_ = mkdtemp(name);
    fs::create_directories(folder_ / "info");
    fs::create_directories(folder_ / "status.d");
    write("info/libc6:amd64.list",
          "/.\n/lib\n/lib/x86_64-linux-gnu/libc.so.6\n/usr/share/doc/libc6\n");
    write("info/coreutils.list", "/.\n/bin\n/bin/true\n/usr/bin/env");
    write("info/python3.11-minimal.list", "/.\n/usr/bin/python3.11\n");
    write("info/libpython3.11:amd64.list", "/.\n/usr/lib/libpython3.11.so.1.0\n");
    write("info/libsqlite3-0:amd64.list", "/.\n/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6\n");
    write("info/libsqlite3-0-dbgsym:amd64.list", "/.\n/usr/lib/debug\n");
    write("info/libc6:amd64.md5sums", "0123  usr/bin/env2\n");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::string name_for(const std::string& path) const {
    const std::optional<DebugPackage> found = debug_package_of(path, folder_.string());
    return !found ? "" : found->name + (found->is_installed ? " installed" : "");
  }
  fs::path folder_;
};

TEST_F(Lists, NameTheOwnersDebugPackage) {
  EXPECT_EQ(name_for("/bin/true"), "coreutils-dbgsym");
  EXPECT_EQ(name_for("/usr/bin/env"), "coreutils-dbgsym");
  EXPECT_EQ(name_for("/usr/bin/python3.11"), "python3.11-dbg");
  EXPECT_EQ(name_for("/usr/lib/libpython3.11.so.1.0"), "libpython3.11-dbg");
  EXPECT_EQ(name_for("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6"),
            "libsqlite3-0-dbgsym installed");
}

TEST_F(Lists, KnowTheMergedUsr) {
  EXPECT_EQ(name_for("/lib/x86_64-linux-gnu/libc.so.6"), "libc6-dbg");
  EXPECT_EQ(name_for("/usr/lib/x86_64-linux-gnu/libc.so.6"), "libc6-dbg");
  EXPECT_EQ(name_for("/usr/bin/true"), "coreutils-dbgsym");
  EXPECT_EQ(name_for("/bin/python3.11"), "python3.11-dbg");
}

// As a package lists a file in a folder that has become a link to another one.
TEST_F(Lists, KnowFoldersThatAreLinks) {
  fs::create_directories(folder_ / "new");
  fs::create_directory_symlink(folder_ / "new", folder_ / "old");
  write("info/moved.list", (folder_ / "old" / "tool").string() + "\n");
  EXPECT_EQ(name_for((folder_ / "new" / "tool").string()), "moved-dbgsym");
  EXPECT_EQ(name_for((folder_ / "old" / "tool").string()), "moved-dbgsym");
}

// As dpkg-divert(1) says: a file of any other package lies where the diversion puts it.
TEST_F(Lists, KnowDiversions) {
  write("diversions",
        "/usr/bin/perf\n/usr/bin/perf.real\nwrapper\n"
        "/bin/gone\n/usr/lib/elsewhere\n:\n");
  write("info/linux-perf.list", "/usr/bin/perf\n");
  write("info/wrapper.list", "/usr/bin/perf\n");
  write("info/tools.list", "/usr/bin/gone\n");
  EXPECT_EQ(name_for("/usr/bin/perf"), "wrapper-dbgsym");
  EXPECT_EQ(name_for("/bin/perf.real"), "linux-perf-dbgsym");
  EXPECT_EQ(name_for("/usr/lib/elsewhere"), "tools-dbgsym");
  EXPECT_EQ(name_for("/usr/bin/gone"), "");  // the administrator's own
}

TEST_F(Lists, HaveTheSumsOfFiles) {
  const std::string sum = "0123456789abcdef0123456789abcdef";
  write("info/coreutils.md5sums", sum + "  bin/true\n" + std::string(32, 'f') + "  bin/not/true\n");
  const std::optional<DebugPackage> found = debug_package_of("/usr/bin/true", folder_.string());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->owner, "coreutils");
  EXPECT_EQ(found->sum, sum);
  EXPECT_EQ(debug_package_of("/usr/bin/env", folder_.string())->sum, "");
}

// In a container's folder its owner has put what never ends.
TEST_F(Lists, AreReadWithoutWaiting) {
  ASSERT_EQ(mkfifo((folder_ / "info" / "a.list").c_str(), 0666), 0);
  ASSERT_EQ(mkfifo((folder_ / "diversions").c_str(), 0666), 0);
  fs::create_symlink("/dev/zero", folder_ / "info" / "b.list");
  EXPECT_EQ(name_for("/bin/true"), "coreutils-dbgsym");
  EXPECT_EQ(name_for("/bin/tru"), "");
}

// Links of a target's root lead to files below it.
TEST_F(Lists, AreThoseOfTheTargetsRoot) {
  fs::create_directories(folder_ / "real" / "lib" / "dpkg" / "info");
  fs::create_symlink("/real", folder_ / "var");
  fs::create_directories(folder_ / "etc");
  write("real/lib/dpkg/info/inside.list", "/bin/true\n");
  write("etc/os-release", "ID=fedora\n");
  FileReader reader;
  reader.root = folder_.string();
  read_found_names_as(reader);
  const std::optional<DebugPackage> found = debug_package_of("/usr/bin/true");
  const std::string server = server_of_distribution();
  read_found_names_as(std::nullopt);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "inside-dbgsym");
  EXPECT_EQ(server, "https://debuginfod.fedoraproject.org");
}

// As containers have it that were made without dpkg.
TEST_F(Lists, MayBeSumsAlone) {
  const std::string sum = "0123456789abcdef0123456789abcdef";
  write("status.d/libssl3.md5sums", sum + "  usr/lib/libssl.so.3\n");
  const std::optional<DebugPackage> found =
      debug_package_of("/usr/lib/libssl.so.3", folder_.string());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "libssl3-dbgsym");
  EXPECT_EQ(found->sum, sum);
}

TEST_F(Lists, KnowNothingOfOtherFiles) {
  EXPECT_EQ(name_for("/home/me/true"), "");
  EXPECT_EQ(name_for("/bin/tru"), "");
  EXPECT_EQ(name_for("true"), "");
  EXPECT_FALSE(debug_package_of("/bin/true", "/nonexistent"));
}

TEST_F(Lists, TheServerIsTheDistributions) {
  write("release", "NAME=x\nID=debian\nVERSION_ID=12\n");
  EXPECT_EQ(server_of_distribution((folder_ / "release").string()),
            "https://debuginfod.debian.net");
  write("release", "ID_LIKE=debian\nID=\"opensuse-tumbleweed\"\n");
  EXPECT_EQ(server_of_distribution((folder_ / "release").string()),
            "https://debuginfod.opensuse.org");
  EXPECT_EQ(server_of_distribution("/nonexistent"), "https://debuginfod.elfutils.org");
}

}  // namespace
}  // namespace dj
