// SPDX-License-Identifier: Apache-2.0
// Runs the C compiler; all that it needs and makes lies in one folder.
#include "runtime/run/header_types.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/process/child_wait.h"

namespace dj {
namespace {

// "<a.h><b.h>" as lines to include.
std::string source_of(const std::string& headers) {
  std::string text;
  for (size_t begin = 0; begin < headers.size();) {
    size_t end = headers.find('>', begin);
    end = end == std::string::npos ? headers.size() : end + 1;
    text += "#include " + headers.substr(begin, end - begin) + "\n";
    begin = end;
  }
  return text;
}

std::vector<std::string> compilers() {
  const char* own = std::getenv("CC");
  if (own && *own) return {own};
  return {"cc", "gcc", "clang"};
}

// The lines with mistakes, at most a few; our own folder's name is nothing to people.
std::string mistakes_in(const std::string& said, const std::string& folder) {
  std::string lines;
  int count = 0;
  for (size_t begin = 0; begin < said.size();) {
    size_t end = std::min(said.find('\n', begin), said.size());
    std::string line = said.substr(begin, end - begin);
    if (line.starts_with(folder + "/")) line.erase(0, folder.size() + 1);
    if (line.find("error") != std::string::npos && ++count <= 3) lines += "\n" + line;
    begin = end + 1;
  }
  return lines;
}

class HeaderTypes {
 public:
  explicit HeaderTypes(const sigset_t& child_mask) : child_mask_(child_mask) {}
  ~HeaderTypes();
  HeaderTypes(const HeaderTypes&) = delete;
  HeaderTypes& operator=(const HeaderTypes&) = delete;
  Result<std::string> object_of(const std::string& headers);

 private:
  Status compile(const std::string& headers, const std::string& object);
  Result<bool> run_compiler(const std::string& language, const std::string& object,
                            std::string& said);

  sigset_t child_mask_;
  std::string folder_;  // empty: not made yet
  std::map<std::string, Result<std::string>> objects_;
};

HeaderTypes::~HeaderTypes() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<std::string> HeaderTypes::object_of(const std::string& headers) {
  auto known = objects_.find(headers);
  if (known != objects_.end()) return known->second;
  if (folder_.empty()) {
    const char* base = std::getenv("TMPDIR");
    std::string path = std::string(base && *base ? base : "/tmp") + "/djtap-headers-XXXXXX";
    if (!::mkdtemp(path.data())) return Error{"no temporary folder for the compiler: " + path};
    folder_ = path;
  }
  const std::string object = fmt::format("{}/{}.so", folder_, objects_.size());
  Status made = compile(headers, object);
  Result<std::string> result = made.ok() ? Result<std::string>(object) : made.error();
  return objects_.emplace(headers, std::move(result)).first->second;
}

Status HeaderTypes::compile(const std::string& headers, const std::string& object) {
  std::ofstream(folder_ + "/headers.c") << source_of(headers);
  std::string said, said_as_cpp;
  DJ_TRY(bool done, run_compiler("c", object, said));
  if (done) return ok_status();
  DJ_TRY(done, run_compiler("c++", object, said_as_cpp));
  if (done) return ok_status();
  return Error{fmt::format("{} cannot be compiled{}", headers, mistakes_in(said, folder_))};
}

// True: `object` is there. The error: there is no compiler.
Result<bool> HeaderTypes::run_compiler(const std::string& language, const std::string& object,
                                       std::string& said) {
  const std::string output = folder_ + "/output";
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &child_mask_);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string tried;
  int error = ENOENT, status = -1;
  for (const std::string& compiler : compilers()) {
    // A library, so that no address in its debug info is left to a linker. All types, used or not.
    std::vector<std::string> words = {compiler,
                                      "-g",
                                      "-w",
                                      "-shared",
                                      "-fPIC",
                                      "-nostdlib",
                                      "-x",
                                      language,
                                      "-idirafter",
                                      ".",
                                      "-fno-eliminate-unused-debug-types",
                                      "-o",
                                      object,
                                      folder_ + "/headers.c"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    error = posix_spawnp(&pid, compiler.c_str(), &actions, &attributes, arguments.data(), environ);
    if (error == 0) {
      const std::optional<int> ended = wait_for_child(pid);
      if (!ended) kill_child(pid);
      status = ended.value_or(SIGKILL);
      break;
    }
    tried += (tried.empty() ? "" : ", ") + compiler;
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return Error{"a header's types need a C compiler, and there is none (" + tried + ")"};
  std::ifstream text(output);
  said.assign(std::istreambuf_iterator<char>(text), {});
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

CompileHeaders header_compiler(const sigset_t& child_mask) {
  auto types = std::make_shared<HeaderTypes>(child_mask);
  return [types](const std::string& headers) { return types->object_of(headers); };
}

}  // namespace dj
