// SPDX-License-Identifier: Apache-2.0
// Loads the module by finit_module(2), from a descriptor of a file that others could not write.
#include "runtime/kernel/module_load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/module.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "compiler/base/printable.h"
#include "runtime/kernel/device_link.h"
#include "runtime/kernel/module_build.h"
#include "runtime/process/os_error.h"

namespace dj {
namespace {

constexpr const char* kName = "djtap";
#ifndef MODULE_INIT_COMPRESSED_FILE
constexpr int MODULE_INIT_COMPRESSED_FILE = 4;
#endif

// The number in base 10 or 16 behind "Name:" of /proc/self/status.
uint64_t status_number(const std::string& status, const std::string& name, int base) {
  const size_t at = status.find("\n" + name + ":");
  return at == std::string::npos ? 0
                                 : std::stoull(status.substr(at + name.size() + 2), nullptr, base);
}

// The effective user, the second number of the line.
uint64_t effective_user(const std::string& status) {
  const size_t at = status.find("\nUid:");
  std::istringstream numbers(at == std::string::npos ? "" : status.substr(at + 5));
  uint64_t real = ~0ull, effective = ~0ull;
  numbers >> real >> effective;
  return effective;
}

// The first user namespace has all users, each as itself.
bool is_first_namespace(const std::string& map) {
  std::istringstream numbers(map);
  uint64_t inside = 1, outside = 1, count = 0;
  numbers >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count == 0xffffffff;
}

// What "none [integrity] confidentiality" has in brackets; empty: the kernel knows no lockdown.
std::string lockdown_level(const std::string& text) {
  const size_t begin = text.find('['), end = text.find(']');
  return begin == std::string::npos || end == std::string::npos
             ? ""
             : text.substr(begin + 1, end - begin - 1);
}

// What the module in the file says it is for; empty: it is packed.
std::string vermagic_of(const std::string& path) {
  const std::string text = text_of(path), name = "vermagic=";
  const size_t at = text.find(name);
  std::string magic = at == std::string::npos ? "" : text.c_str() + at + name.size();
  while (magic.ends_with(' ')) magic.pop_back();
  return magic;
}

Status load_module(const std::string& path, const ModuleFiles& files) {
  DJ_TRY(const int fd, open_own_file(path));
  const int flags = path.ends_with(".ko") ? 0 : MODULE_INIT_COMPRESSED_FILE;
  const long status = syscall(SYS_finit_module, fd, "", flags);
  const int number = errno;
  close(fd);
  // Another djtap may have loaded it meanwhile.
  return status == 0 || number == EEXIST ? ok_status() : load_refusal(number, path, files);
}

// Fails if a session uses the module, or its places are kept.
Status unload_module() {
  if (syscall(SYS_delete_module, kName, O_NONBLOCK) == 0 || errno == ENOENT) return ok_status();
  return os_error("djtap's kernel module is of another version and cannot be exchanged now");
}

using Link = std::unique_ptr<KernelLink>;

// The link to the loaded module; empty: it was of another interface, and is unloaded.
Result<std::optional<Link>> open_loaded() {
  DJ_TRY(Link link, DeviceLink::open());
  if (link->hello().ok()) return std::optional(std::move(link));
  link.reset();
  DJ_TRY_DO(unload_module());
  return std::optional<Link>();
}

// The same of a module that was loaded just now.
Result<std::optional<Link>> open_new() {
  Result<std::optional<Link>> link = open_loaded();
  if (link.ok() || link.error().kind != Fail::NotFound) return link;
  return Error{"djtap's kernel module is loaded, but there is no " DJTAP_DEVICE
               " here: in a container, run djtap on the host"};
}

Result<std::string> kept_or_built(const ModuleFiles& files, const sigset_t& mask) {
  DJ_TRY(const ModuleRecipe recipe, module_recipe(files));
  Result<std::string> kept = kept_module(recipe);
  if (kept.ok() || kept.error().kind != Fail::NotFound) return kept;
  return keep_module(recipe, mask);
}

}  // namespace

Status check_root(const ModuleFiles& files) {
  const std::string status = "\n" + text_of(files.status);
  if (effective_user(status) != 0)
    return Error{"the kernel needs root; or give -c or -p", Fail::Permission};
  const uint64_t needed = 1ull << CAP_SYS_MODULE | 1ull << CAP_SYS_ADMIN;
  if (is_first_namespace(text_of(files.users)) &&
      (status_number(status, "CapEff", 16) & needed) == needed)
    return ok_status();
  return Error{
      "the kernel needs root of the machine, and djtap is root in a container only: run djtap "
      "outside of it; or give -c or -p",
      Fail::Permission};
}

Status check_takes_modules(const ModuleFiles& files) {
  if (access(files.loaded.c_str(), F_OK) != 0)
    return Error{
        "this kernel has no modules (CONFIG_MODULES): boot another kernel, or use bpftrace",
        Fail::Unsupported};
  const std::string level = lockdown_level(text_of(files.lockdown));
  if (!level.empty() && level != "none")
    return Error{fmt::format("the kernel is locked down ({}), so that not even root writes probes "
                             "into it: switch Secure Boot off (mokutil --disable-validation) and "
                             "boot without lockdown=, or use bpftrace",
                             level),
                 Fail::Permission};
  if (!is_module_loaded(files) && text_of(files.disabled).starts_with('1'))
    return Error{
        "this kernel loads no more modules until the next boot (kernel.modules_disabled is 1): "
        "load djtap's before that is set, or use bpftrace",
        Fail::Permission};
  return ok_status();
}

bool is_module_loaded(const ModuleFiles& files) {
  return ("\n" + text_of(files.loaded)).find(std::string("\n") + kName + " ") != std::string::npos;
}

std::string installed_module(const ModuleFiles& files) {
  const std::string folder = fmt::format("{}/{}/", files.modules, files.kernel());
  std::ifstream list(folder + "modules.dep");
  for (std::string line; std::getline(list, line);) {
    const std::string path = line.substr(0, line.find(':'));
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("djtap.ko")) return path[0] == '/' ? path : folder + path;
  }
  return "";
}

Error load_refusal(int number, const std::string& path, const ModuleFiles& files) {
  const std::string file = printable(path);
  switch (number) {
    case EPERM:
      if (const Status taken = check_takes_modules(files); !taken.ok()) return taken.error();
      return Error{
          fmt::format("the kernel does not let djtap load {}: djtap is root in a container "
                      "only, or a security module (SELinux, AppArmor) forbids it",
                      file),
          Fail::Permission};
    case ENOKEY:
    case EKEYREJECTED:
    case EBADMSG:
      return Error{fmt::format("the kernel loads signed modules only: sign {} with a key of the "
                               "machine's owner (mokutil --import), or use bpftrace",
                               file),
                   Fail::Permission};
    case ENOEXEC: {
      const std::string magic = vermagic_of(path);
      return Error{
          fmt::format("{} is a module for another kernel{}; this is {}: remove it, and "
                      "djtap builds one",
                      file, magic.empty() ? "" : " (" + printable(magic) + ")", files.kernel())};
    }
    case EOPNOTSUPP:
      return Error{
          fmt::format("{} is packed, and this kernel does not unpack modules: modprobe "
                      "djtap",
                      file)};
    case ENOENT:
      return Error{fmt::format("{} needs a function that this kernel lacks: dmesg names it", file)};
    default:
      return os_error(fmt::format("{} cannot be loaded (dmesg may say why)", file), number);
  }
}

Result<Link> open_kernel(const ModuleFiles& files, const sigset_t& mask) {
  DJ_TRY_DO(check_root(files));
  DJ_TRY_DO(check_takes_modules(files));
  Result<std::optional<Link>> loaded = open_loaded();
  if (loaded.ok() && loaded.value()) return std::move(*loaded.value());
  if (!loaded.ok() && loaded.error().kind != Fail::NotFound) return loaded.error();
  if (const std::string path = installed_module(files); !path.empty()) {
    DJ_TRY_DO(load_module(path, files));
    DJ_TRY(std::optional<Link> installed, open_new());
    if (installed) return std::move(*installed);
  }
  DJ_TRY(const std::string path, kept_or_built(files, mask));
  DJ_TRY_DO(load_module(path, files));
  DJ_TRY(std::optional<Link> own, open_new());
  if (own) return std::move(*own);
  return Error{fmt::format("{} is of another version than this djtap", printable(path))};
}

}  // namespace dj
