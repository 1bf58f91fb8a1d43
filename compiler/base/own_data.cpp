// SPDX-License-Identifier: Apache-2.0
// Finds djtap's own files. The build says the prefix's folders relative to the program's
// (DJTAP_DATA_FOLDER and others), so a prefix may be moved.
#include "compiler/base/own_data.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "compiler/base/printable.h"

namespace dj {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWayOut = "install the package again, or keep djtap with its files";

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// `name` beside the program, else in `folder` of its prefix.
Result<std::string> find(const std::string& name, const char* what, const char* are,
                         const char* folder) {
  const fs::path home = program_folder();
  const fs::path places[] = {home / name, (home / folder / name).lexically_normal()};
  std::error_code error;
  for (const fs::path& place : places) {
    const fs::path found = fs::canonical(place, error);
    if (!error) return found.string();
    if (error == std::errc::permission_denied)
      return Error{fmt::format("djtap cannot come to its {}, {}: {}", what,
                               printable(place.string()), error.message()),
                   Fail::Permission};
  }
  return Error{fmt::format("djtap's {} {} missing: there is neither {} nor {}; {}", what, are,
                           printable(places[0].string()), printable(places[1].string()), kWayOut),
               Fail::Incomplete};
}

std::string first_word(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// The file VERSION stands beside the folder in each place: it comes with the program to a build
// folder, and with the tapsets to a prefix.
Result<std::string> find_tapsets() {
  DJ_TRY(const std::string folder, find("tapsets", "tapsets", "are", DJTAP_DATA_FOLDER));
  const fs::path home = program_folder();
  std::error_code error;
  const bool beside = fs::exists(home / "tapsets", error);
  const fs::path file = (beside ? home : home / DJTAP_DATA_FOLDER) / "VERSION";
  const std::string version = first_word(file);
  if (version == own_version()) return folder;
  const std::string other =
      version.empty() ? "of an unknown version" : "of djtap " + printable(version);
  return Error{fmt::format("the tapsets in {} are {}, this is djtap {}: {}", printable(folder),
                           other, own_version(), kWayOut),
               Fail::Incomplete};
}

}  // namespace

const char* own_version() { return DJTAP_VERSION; }

const Result<std::string>& own_tapsets() {
  static const Result<std::string> found = find_tapsets();
  return found;
}

const Result<std::string>& own_lowering() {
  static const Result<std::string> found =
      find("libdjtap_lower.so", "compiler of handlers", "is", DJTAP_LIBRARY_FOLDER);
  return found;
}

const Result<std::string>& own_module_sources() {
  static const Result<std::string> found =
      find("djtap-" DJTAP_VERSION, "kernel module's sources", "are", DJTAP_SOURCE_FOLDER);
  return found;
}

}  // namespace dj
