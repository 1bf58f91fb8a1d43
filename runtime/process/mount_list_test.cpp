// SPDX-License-Identifier: Apache-2.0
// Lines of /proc/self/mountinfo, as proc_pid_mountinfo(5) has them.
#include "runtime/process/mount_list.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dj {
namespace {

TEST(MountList, ALineHasFieldsOfTheMountAndOfTheFileSystem) {
  const std::optional<Mount> mount = parse_mount(
      "36 35 98:0 /a\\040b /mnt/c\\134d rw,noexec master:1 shared:2 - ext4 /dev/root "
      "rw,errors=continue");
  ASSERT_TRUE(mount);
  EXPECT_EQ(mount->device, "98:0");
  EXPECT_EQ(mount->root, "/a b");
  EXPECT_EQ(mount->place, "/mnt/c\\d");
  EXPECT_EQ(mount->options, "rw,noexec");
  EXPECT_EQ(mount->type, "ext4");
  EXPECT_EQ(mount->super_options, "rw,errors=continue");
  EXPECT_FALSE(parse_mount("36 35 98:0 / /mnt rw"));
}

TEST(MountList, AWordIsAWholeOne) {
  EXPECT_TRUE(has_word("rw,noexec", "rw"));
  EXPECT_TRUE(has_word("rw,noexec,nodev", "noexec"));
  EXPECT_FALSE(has_word("rw,noexec", "exec"));
  EXPECT_FALSE(has_word("", "rw"));
}

TEST(MountList, ProcIsMounted) {
  EXPECT_TRUE(std::ranges::any_of(mount_list(), [](const Mount& mount) {
    return mount.place == "/proc" && mount.type == "proc";
  }));
}

}  // namespace
}  // namespace dj
