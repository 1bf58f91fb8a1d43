// SPDX-License-Identifier: Apache-2.0
// The machine's own cache has the C library; of a file that is cut off or spoilt at any byte djtap
// reads nothing outside.
#include "runtime/process/loader_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace dj {
namespace {

TEST(LoaderCache, HasTheCLibrary) {
  const std::vector<std::string> paths = cached_libraries();
  if (paths.empty()) GTEST_SKIP() << "no /etc/ld.so.cache here";
  EXPECT_TRUE(std::ranges::any_of(
      paths, [](const std::string& path) { return path.ends_with("/libc.so.6"); }));
  EXPECT_TRUE(std::ranges::all_of(paths, [](const std::string& path) { return path[0] == '/'; }));
}

TEST(LoaderCache, IsReadWithinItsBytes) {
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  for (size_t bytes = 0; bytes < std::min<size_t>(whole.size(), 2000); bytes++) {
    EXPECT_LE(cached_libraries(whole.substr(0, bytes)).size(), bytes);
    std::string spoilt = whole;
    spoilt[bytes] = '\xff';
    cached_libraries(spoilt);
  }
  EXPECT_TRUE(cached_libraries("no such file").empty());
}

}  // namespace
}  // namespace dj
