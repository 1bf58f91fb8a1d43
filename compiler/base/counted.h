// SPDX-License-Identifier: Apache-2.0
// Numbers of things in messages.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dj {

// "1 site", "3 sites", "2 processes".
inline std::string counted(uint64_t count, std::string_view noun) {
  const std::string text = std::to_string(count) + " " + std::string(noun);
  return count == 1 ? text : text + (noun.ends_with("s") ? "es" : "s");
}

}  // namespace dj
