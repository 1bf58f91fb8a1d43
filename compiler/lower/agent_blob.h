// SPDX-License-Identifier: Apache-2.0
// The agent as it is embedded into djtap by the build: the object of all its sources and the
// bitcode of the hot ones (CMakeLists.txt writes agent_blob.S).
#pragma once
#include <string_view>

extern "C" {
extern const char dj_agent_object[], dj_agent_object_end[];
extern const char dj_agent_hot[], dj_agent_hot_end[];
}

namespace dj {

inline std::string_view agent_object() {
  return {dj_agent_object, static_cast<size_t>(dj_agent_object_end - dj_agent_object)};
}
inline std::string_view agent_hot() {
  return {dj_agent_hot, static_cast<size_t>(dj_agent_hot_end - dj_agent_hot)};
}

}  // namespace dj
