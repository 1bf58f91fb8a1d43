// SPDX-License-Identifier: Apache-2.0
// The new root is a small file system in memory: folders on the way to djtap's own files, and links
// to everything else, which lies in a copy of the process's mounts.
#include "runtime/process/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "runtime/process/os_error.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

constexpr char kTheirs[] = "target";  // in the new root: the root folder of the process
constexpr size_t kMostNames = 10'000;
constexpr uint64_t kUnchangeable = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;

struct View {
  bool is_entered = false;
  std::string root;  // of the process, as djtap would have named it outside
};

View& view() {
  static View own;
  return own;
}

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

// A copy of what is mounted at a place and below it. Devices work only where `devices` says so: the
// process may have nodes of devices that its cgroup keeps from it.
Fd copy_mounts(int folder, const std::string& path, bool devices) {
  const int below = path.empty() ? AT_EMPTY_PATH : 0;
  Fd tree(
      open_tree(folder, path.c_str(),
                static_cast<unsigned>(OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | below)));
  mount_attr how = {};
  how.attr_set = kUnchangeable | (devices ? 0 : uint64_t{MOUNT_ATTR_NODEV});
  how.propagation = MS_PRIVATE;
  if (tree.ok() &&
      mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &how, sizeof how) != 0)
    return Fd();
  return tree;
}

// Of the process's root folder. Only who is in a mount namespace can copy its mounts.
Result<Fd> copy_root_of(pid_t pid, int pidfd) {
  const Fd theirs(
      open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd own(open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd folder(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!theirs.ok() || !own.ok() || !root.ok() || !folder.ok() || setns(pidfd, CLONE_NEWNS) != 0)
    return os_error("cannot look into its mount namespace");
  Fd copy = copy_mounts(theirs.get(), "", false);
  const int number = errno;
  if (setns(own.get(), CLONE_NEWNS) != 0 || fchdir(root.get()) != 0 || chroot(".") != 0 ||
      fchdir(folder.get()) != 0)
    return os_error("cannot come back from its mount namespace");
  if (!copy.ok()) return os_error("cannot copy its mounts", number);
  return copy;
}

// Memory with nothing in it, mounted over the root: a descriptor of its folder.
Result<Fd> mount_empty_root() {
  const Fd context(fsopen("tmpfs", FSOPEN_CLOEXEC));
  const bool made = context.ok() &&
                    fsconfig(context.get(), FSCONFIG_SET_STRING, "mode", "755", 0) == 0 &&
                    fsconfig(context.get(), FSCONFIG_SET_STRING, "size", "64m", 0) == 0 &&
                    fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  Fd root(made ? fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
               : -1);
  if (!root.ok() || move_mount(root.get(), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return os_error("cannot mount a root folder");
  return root;
}

// The names in a folder of the process; none: it has no such folder.
std::vector<std::string> names_in(int theirs, const std::string& folder) {
  open_how how = {};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const std::string path = folder.empty() ? "." : folder;
  const int fd = static_cast<int>(syscall(SYS_openat2, theirs, path.c_str(), &how, sizeof how));
  DIR* dir = fd < 0 ? nullptr : fdopendir(fd);
  std::vector<std::string> names;
  while (dirent* entry = dir != nullptr ? readdir(dir) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && names.size() < kMostNames) names.push_back(name);
  }
  if (dir != nullptr) closedir(dir);
  return names;
}

// Builder: makes the names of a new root, below its folder. Names are relative.
class Builder {
 public:
  Builder(int root, Fd theirs) : root_(root), theirs_(std::move(theirs)) { keep_name(kTheirs); }

  // A folder of djtap's own that is to be there, with nothing in it.
  void add_folder(const fs::path& path) { add(path, std::nullopt); }
  // The file or folder itself.
  Status add_mount(const fs::path& path, bool devices = false) {
    struct stat info = {};
    Fd tree = copy_mounts(AT_FDCWD, path, devices);
    if (!tree.ok() || fstat(tree.get(), &info) != 0)
      return os_error("cannot copy " + path.string());
    add(path, Mount{std::move(tree), S_ISDIR(info.st_mode)});
    return ok_status();
  }
  // To be called when djtap's working folder is the new root.
  Status build();

 private:
  struct Mount {
    Fd tree;
    bool is_folder;
  };
  void keep_name(const std::string& path) { kept_.insert(path); }
  void add(const fs::path& path, std::optional<Mount> mount);
  Status make_links(const std::string& folder) const;

  int root_;
  Fd theirs_;
  std::map<std::string, std::optional<Mount>> folders_;  // parents come before
  std::set<std::string> kept_;                           // names that are djtap's own
};

void Builder::add(const fs::path& path, std::optional<Mount> mount) {
  const fs::path name = path.lexically_normal().relative_path();
  fs::path parent;
  for (const fs::path& part : name.parent_path()) {
    parent /= part;
    if (folders_.contains(parent.string()) && folders_[parent.string()]) return;  // it is in there
    folders_.try_emplace(parent.string());
    keep_name(parent.string());
  }
  if (name.empty()) return;
  std::optional<Mount>& place = folders_[name.string()];
  if (mount) place = std::move(mount);
  keep_name(name.string());
}

Status Builder::make_links(const std::string& folder) const {
  for (const std::string& name : names_in(theirs_.get(), folder)) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    if (kept_.contains(path)) continue;
    if (symlink(fmt::format("/{}/{}", kTheirs, path).c_str(), path.c_str()) != 0)
      return os_error("cannot make a link to " + path);
  }
  return ok_status();
}

Status Builder::build() {
  if (mkdir(kTheirs, 0755) != 0) return os_error("cannot make a folder");
  DJ_TRY_DO(make_links(""));
  for (const auto& [name, mount] : folders_) {
    const bool is_file = mount && !mount->is_folder;
    const int made = is_file ? mknod(name.c_str(), S_IFREG | 0444, 0) : mkdir(name.c_str(), 0755);
    if (made != 0) return os_error("cannot make " + name);
    if (!mount) DJ_TRY_DO(make_links(name));
    if (mount &&
        move_mount(mount->tree.get(), "", root_, name.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
      return os_error("cannot mount " + name);
  }
  if (move_mount(theirs_.get(), "", root_, kTheirs, MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return os_error("cannot mount its files");
  mount_attr how = {};
  how.attr_set = kUnchangeable;
  if (mount_setattr(root_, "", AT_EMPTY_PATH, &how, sizeof how) != 0)
    return os_error("cannot close the root folder");
  return ok_status();
}

// Every id as it is outside.
std::string identity_map(const char* file) {
  std::ifstream in(file);
  std::string lines;
  for (uint64_t inside = 0, outside = 0, count = 0; in >> inside >> outside >> count;)
    lines += fmt::format("{} {} {}\n", inside, inside, count);
  return lines;
}

bool write_file(const std::string& path, const std::string& text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Makes the working folder the root, and enters a new user namespace: in this order, since none is
// made for who has another root than the topmost of his mount namespace. Only who has rights in the
// namespace above may map all ids: a child stays there for that.
Status enter_root_and_user_namespace() {
  const std::string users = identity_map("/proc/self/uid_map"),
                    groups = identity_map("/proc/self/gid_map");
  const std::string process = fmt::format("/proc/{}/", getpid());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return os_error("cannot make a pipe");
  const Fd reads(ends[0]);
  Fd writes(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    writes = Fd();
    char go = 0;
    const bool mapped = read(reads.get(), &go, 1) == 1 && write_file(process + "uid_map", users) &&
                        write_file(process + "gid_map", groups);
    _exit(mapped ? 0 : 1);
  }
  const bool entered = child > 0 && chroot(".") == 0 && unshare(CLONE_NEWUSER) == 0;
  const int number = errno;
  if (entered && write(writes.get(), "x", 1) != 1) return os_error("cannot ask for user ids");
  writes = Fd();
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!entered) return os_error("cannot make a root and a user namespace", number);
  return status == 0 ? ok_status() : Status(Error{"cannot map user ids", Fail::Permission});
}

// What is neither files nor processes.
Status enter_other_namespaces(pid_t pid, int pidfd) {
  constexpr std::pair<const char*, int> kSpaces[] = {{"net", CLONE_NEWNET},
                                                     {"ipc", CLONE_NEWIPC},
                                                     {"uts", CLONE_NEWUTS},
                                                     {"cgroup", CLONE_NEWCGROUP}};
  int others = 0;
  for (const auto& [name, flag] : kSpaces) {
    struct stat own = {}, theirs = {};
    const bool same = stat(fmt::format("/proc/self/ns/{}", name).c_str(), &own) == 0 &&
                      stat(fmt::format("/proc/{}/ns/{}", pid, name).c_str(), &theirs) == 0 &&
                      own.st_ino == theirs.st_ino;
    if (!same) others |= flag;
  }
  if (others != 0 && setns(pidfd, others) != 0) return os_error("cannot enter its namespaces");
  return ok_status();
}

}  // namespace

// Nothing leads back: no descriptor of a folder is left, and in its user namespace djtap has no
// right to mount.
Status enter_view(pid_t pid, int pidfd, const Rights& theirs, const std::vector<std::string>& own) {
  const fs::path folder = fs::current_path();
  DJ_TRY(Fd files, copy_root_of(pid, pidfd));
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return os_error("cannot make a mount namespace");
  std::vector<std::string> mounts = own;
  mounts.insert(mounts.end(), {"/proc", "/sys/devices/system/cpu"});
  DJ_TRY(const Fd root, mount_empty_root());
  Builder builder(root.get(), std::move(files));
  builder.add_folder(folder);
  for (const std::string& path : mounts) DJ_TRY_DO(builder.add_mount(fs::absolute(path)));
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
    DJ_TRY_DO(builder.add_mount(device, true));
  DJ_TRY_DO(enter_other_namespaces(pid, pidfd));
  if (fchdir(root.get()) != 0) return os_error("cannot enter the root folder");
  DJ_TRY_DO(builder.build());
  DJ_TRY_DO(enter_root_and_user_namespace());
  if (chdir(folder.c_str()) != 0) return os_error("cannot come back to the working folder");
  view() = {true, theirs.root == "/" ? "" : theirs.root};
  return ok_status();
}

bool is_in_view() { return view().is_entered; }
const std::string& root_in_view() { return view().root; }

std::string name_by_root(pid_t pid, const std::string& path) {
  if (!is_in_view()) return fmt::format("/proc/{}/root{}", pid, path);
  const std::string& root = view().root;
  return fmt::format("/{}{}", kTheirs,
                     path.starts_with(root + "/") ? path.substr(root.size()) : path);
}

}  // namespace dj
