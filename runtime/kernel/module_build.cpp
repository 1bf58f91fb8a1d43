// SPDX-License-Identifier: Apache-2.0
// Copies the sources into a private folder, runs the kernel's own make there, and moves the result.
#include "runtime/kernel/module_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "compiler/base/own_data.h"
#include "compiler/base/printable.h"
#include "runtime/output/progress.h"
#include "runtime/patch/file_cache.h"
#include "runtime/patch/own_folder.h"
#include "runtime/process/os_error.h"
#include "runtime/process/run_program.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "/include/config/auto.conf";
constexpr const char* kRelease = "/include/generated/utsrelease.h";  // what modules are for
constexpr const char* kSymbols = "/Module.symvers";

std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" \n"));
}

// What stands between the first two quotes; empty: nothing does.
std::string quoted_in(const std::string& text) {
  const size_t begin = text.find('"'), end = text.find('"', begin + 1);
  return end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

// Kbuild and the files that it names, but no tests: ascending.
std::vector<fs::path> source_files(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    if (path.filename() == "Kbuild" || path.extension() == ".c" || path.extension() == ".h")
      files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The value of a CONFIG_ line, without quotes; empty: there is none.
std::string config_value(const std::string& config, const std::string& name) {
  const std::string begin = "\n" + name + "=";
  const size_t at = config.find(begin);
  if (at == std::string::npos) return "";
  const size_t from = at + begin.size();
  std::string value = config.substr(from, config.find('\n', from) - from);
  if (value.starts_with('"')) value.erase(0, 1);
  return value;
}

Result<std::string> headers_of(const ModuleFiles& files, const std::string& release) {
  const std::string folder =
      files.headers.empty() ? fmt::format("{}/{}/build", files.modules, release) : files.headers;
  const std::string found = quoted_in(text_of(folder + kRelease));
  if (found == release) {
    std::error_code error;
    return fs::canonical(folder, error).string();
  }
  if (!found.empty())
    return Error{fmt::format("the headers in {} are of kernel {}, not of {}", printable(folder),
                             printable(found), release)};
  return Error{fmt::format("the headers of kernel {} are not in {}: apt-get install "
                           "linux-headers-{}, or name their folder: djtap kernel-build {} "
                           "--headers FOLDER",
                           release, printable(folder), release, release),
               Fail::NotFound};
}

Status check_config(const std::string& config, const std::string& release) {
  struct Needed {
    const char *option, *what;
  };
  constexpr Needed kNeeded[] = {{"CONFIG_MODULES", "modules"},
                                {"CONFIG_KPROBES", "kprobes"},
                                {"CONFIG_KALLSYMS", "names of its functions"},
                                {"CONFIG_KALLSYMS_ALL", "names of its data"}};
  for (const Needed& needed : kNeeded) {
    if (config_value(config, needed.option) != "y")
      return Error{
          fmt::format("kernel {} has no {} ({}), which djtap needs: boot another kernel, "
                      "or use bpftrace",
                      release, needed.what, needed.option)};
  }
  return ok_status();
}

// BuildFolder: a private folder that goes with this object.
class BuildFolder {
 public:
  BuildFolder() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr && *base != 0 ? base : "/tmp") + "/djtap-kernel-XXXXXX";
    is_made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~BuildFolder() {
    std::error_code ignored;
    if (is_made_) fs::remove_all(path_, ignored);
  }
  BuildFolder(const BuildFolder&) = delete;

  bool is_made() const { return is_made_; }
  const std::string& path() const { return path_; }
  std::string log() const { return path_ + "/build.log"; }

 private:
  std::string path_;
  bool is_made_ = false;
};

// What make is told. clang is a family of tools, which the kernel's make calls LLVM.
std::vector<std::string> make_words(const ModuleRecipe& recipe, const std::string& folder) {
  std::vector<std::string> words = {"make", "-j4", "-C", recipe.headers, "M=" + folder,
                                    "CC=" + recipe.compiler,
                                    // Types and lines would need pahole, and nothing reads them.
                                    "CONFIG_DEBUG_INFO_BTF_MODULES=", "KCFLAGS=-g0"};
  if (const size_t at = recipe.compiler.find("clang"); at != std::string::npos) {
    const std::string version = recipe.compiler.substr(at + 5);
    words.push_back("LLVM=" + (version.empty() ? "1" : version));
  }
  words.emplace_back("modules");
  return words;
}

// The line of a log that says what is wrong: the first with an error, else the last.
std::string mistake_in(const std::string& log) {
  std::ifstream text(log);
  std::string last;
  for (std::string line; std::getline(text, line);) {
    last = line;
    if (line.find("rror:") != std::string::npos) break;
  }
  return printable(last);
}

// Builds the module in `folder`; the compiler's words go to `log` if it fails.
Status build_in(const BuildFolder& folder, const ModuleRecipe& recipe, const std::string& log,
                const sigset_t& mask) {
  if (!folder.is_made()) return os_error("no folder to build in, " + folder.path());
  DJ_TRY_DO(check_tools(recipe));
  std::error_code error;
  for (const fs::path& file : source_files(recipe.sources)) {
    fs::copy_file(file, fs::path(folder.path()) / file.filename(), error);
    if (error) return os_error("copying " + file.string(), error.value());
  }
  DJ_TRY(const int status, with_progress("building the kernel module", [&] {
           return run_program(make_words(recipe, folder.path()), folder.log(), mask);
         }));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && fs::exists(folder.path() + "/djtap.ko"))
    return ok_status();
  const std::string mistake = mistake_in(folder.log());
  fs::copy_file(folder.log(), log, fs::copy_options::overwrite_existing, error);
  return Error{fmt::format("djtap's module does not compile for kernel {} with {}: {}{}",
                           recipe.release, recipe.compiler, mistake,
                           error ? "" : "; the whole log is in " + log)};
}

bool write_all(int fd, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(fd, bytes.data() + done, bytes.size() - done);
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

// Writes a file beside and renames it: `name` of the folder is never half of one.
Status write_whole_file(int folder, const std::string& name, const std::string& bytes) {
  const std::string beside = fmt::format("{}.{}", name, getpid());
  unlinkat(folder, beside.c_str(), 0);
  const int fd =
      openat(folder, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return os_error(name);
  const bool written = write_all(fd, bytes) && fchmod(fd, 0644) == 0;
  const bool is_there = written && renameat(folder, beside.c_str(), folder, name.c_str()) == 0;
  const int number = errno;
  close(fd);
  if (is_there) return ok_status();
  unlinkat(folder, beside.c_str(), 0);
  return os_error("writing " + name, number);
}

// Removes the modules that djtap kept before for this kernel: other sources or headers made them.
void remove_others(const ModuleRecipe& recipe) {
  const fs::path own = recipe.folder;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(own.parent_path(), error)) {
    const std::string name = entry.path().filename();
    const bool same_kernel = name.substr(0, name.rfind('-')) == recipe.release;
    std::error_code ignored;
    if (same_kernel && entry.path() != own) fs::remove_all(entry.path(), ignored);
  }
}

Error not_believed(const std::string& path, const std::string& why) {
  return Error{fmt::format("{} is not loaded: {}; remove it as root", printable(path), why)};
}

}  // namespace

Result<ModuleRecipe> module_recipe(const ModuleFiles& files) {
  ModuleRecipe recipe;
  recipe.release = files.kernel();
  DJ_TRY(recipe.headers, headers_of(files, recipe.release));
  DJ_TRY(recipe.sources, Result<std::string>(own_module_sources()));
  const std::string config = "\n" + text_of(recipe.headers + kConfig);
  DJ_TRY_DO(check_config(config, recipe.release));
  recipe.compiler = first_word(config_value(config, "CONFIG_CC_VERSION_TEXT"));
  if (recipe.compiler.empty()) recipe.compiler = "gcc";
  std::string key = recipe.compiler + config + text_of(recipe.headers + kSymbols);
  for (const fs::path& file : source_files(recipe.sources))
    key += file.filename().string() + "\n" + text_of(file);
  recipe.folder = fmt::format("{}/{}-{}", files.kept, recipe.release, short_name(key));
  return recipe;
}

Status check_tools(const ModuleRecipe& recipe) {
  for (const std::string& tool : {std::string("make"), recipe.compiler}) {
    const size_t family = tool.rfind("-gcc");  // x86_64-linux-gnu-gcc-12 is in the package gcc-12
    const std::string package = family == std::string::npos ? tool : tool.substr(family + 1);
    if (!is_program(tool))
      return Error{fmt::format("a module for kernel {} is built by {}, which is not here: apt-get "
                               "install {}",
                               recipe.release, tool, package),
                   Fail::NotFound};
  }
  return ok_status();
}

Result<int> open_own_file(const std::string& path) {
  OwnFolder folder(fs::path(path).parent_path());
  const int at = folder.open(false);
  if (at < 0 && !folder.refusal().empty()) return not_believed(path, folder.refusal());
  if (at < 0) return os_error(path, ENOENT);
  const std::string name = fs::path(path).filename();
  const int fd = openat(at, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && errno == ELOOP) return not_believed(path, "it is a link");
  if (fd < 0) return os_error(path);
  struct stat info = {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return fd;
  close(fd);
  return not_believed(path, "others may have written it");
}

Result<std::string> kept_module(const ModuleRecipe& recipe) {
  DJ_TRY(const int fd, open_own_file(recipe.kept()));
  close(fd);
  return recipe.kept();
}

Result<std::string> keep_module(const ModuleRecipe& recipe, const sigset_t& mask) {
  const std::string above = fs::path(recipe.folder).parent_path();
  OwnFolder all(above);
  if (all.open(true) < 0)
    return Error{all.refusal().empty()
                     ? os_error(above).message
                     : fmt::format("nothing is kept in {}: {}", above, all.refusal())};
  const BuildFolder built;
  DJ_TRY_DO(build_in(built, recipe, above + "/build.log", mask));
  OwnFolder folder(recipe.folder);
  const int at = folder.open(true);
  if (at < 0) return not_believed(recipe.folder, folder.refusal());
  DJ_TRY_DO(write_whole_file(at, "djtap.ko", text_of(built.path() + "/djtap.ko")));
  remove_others(recipe);
  return kept_module(recipe);
}

Status build_module(const ModuleRecipe& recipe, const std::string& to, const sigset_t& mask) {
  const fs::path path = fs::absolute(to);
  const int folder = open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return os_error(path.parent_path());
  const BuildFolder built;
  Status made = build_in(built, recipe, path.string() + ".log", mask);
  if (made.ok())
    made = write_whole_file(folder, path.filename(), text_of(built.path() + "/djtap.ko"));
  close(folder);
  return made;
}

}  // namespace dj
