// SPDX-License-Identifier: Apache-2.0
// Modules by their mappings. A file is opened by its name where that means the same to djtap, else
// by the process: its root, its executable, its open files; else made of the process's memory. The
// inode that is mapped decides, and the file stays open for the session.
#include <dirent.h>
#include <elf.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include "compiler/base/page.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/known_of_files.h"
#include "runtime/process/map_query.h"
#include "runtime/process/memory_image.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/tracer.h"
#include "runtime/process/view.h"

namespace dj {
namespace {

std::string of_process(pid_t pid, const std::string& rest) {
  return "/proc/" + std::to_string(pid) + rest;
}

// An open file of the process, which may close it any moment; -1: it has none with that inode.
int open_of_process(pid_t pid, const Mapping& m) {
  const std::string folder = of_process(pid, "/fd");
  DIR* dir = opendir(folder.c_str());
  int found = -1;
  while (dirent* entry = dir != nullptr ? readdir(dir) : nullptr) {
    const std::string path = folder + "/" + entry->d_name;
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0 || info.st_ino != m.inode || info.st_dev != m.device) {
      continue;
    }
    found = open_regular(path);
    if (found >= 0) break;
  }
  if (dir != nullptr) closedir(dir);
  return found;
}

// How to reach a mapped file by its process. The kernel lets only root open what is mapped
// (map_files), but everybody the program.
constexpr std::string (*kWays[])(pid_t, const Mapping&) = {
    [](pid_t pid, const Mapping& m) { return name_by_root(pid, m.path); },
    [](pid_t pid, const Mapping&) { return of_process(pid, "/exe"); },
    [](pid_t pid, const Mapping& m) {
      char range[64];
      snprintf(range, sizeof range, "/map_files/%lx-%lx", m.begin, m.end);
      return of_process(pid, range);
    },
};

// Files: how djtap reads what one process has mapped.
class Files {
 public:
  Files(pid_t pid, const std::vector<Mapping>& maps) : pid_(pid), maps_(maps), memory_(pid) {}

  // By its name or by the process; empty: it is no object (elf(5)). Nothing: it cannot be opened.
  std::optional<std::string> named(const Mapping& m) const;
  // The file made of memory; empty: that is not to be had.
  std::string of_memory(const Mapping& m) const;
  std::string find(const Mapping& m) const {
    const std::optional<std::string> path = named(m);
    return path ? *path : of_memory(m);
  }
  const RunningMemory& memory() const { return memory_; }

 private:
  // Opens the file of that name if it is the one that is mapped; -1: it is not.
  int open_mapped(const std::string& path, const Mapping& m) const;

  pid_t pid_;
  const std::vector<Mapping>& maps_;
  RunningMemory memory_;
};

// Files that were made of memory, by process, device, inode and where they are mapped: made once.
std::string Files::of_memory(const Mapping& m) const {
  static std::mutex mutex;
  static std::map<std::tuple<pid_t, uint64_t, uint64_t, uint64_t>, std::string> made;
  const Mapping* first = first_page(memory_, maps_, m);
  if (first == nullptr) return "";
  const std::lock_guard lock(mutex);
  std::string& name = made[{pid_, m.device, m.inode, first->begin}];
  const std::optional<std::vector<uint8_t>> bytes =
      name.empty() ? memory_image(memory_, *first) : std::nullopt;
  const int fd = bytes ? sealed_file(*bytes) : -1;
  if (fd >= 0) name = hold_target_file(fd, of_process(getpid(), "/fd/" + std::to_string(fd)));
  return name;
}

// Some file systems show other devices in /proc/PID/maps than stat() does: what the process itself
// finds by the name, or has mapped, tells there.
int Files::open_mapped(const std::string& path, const Mapping& m) const {
  const int fd = open_regular(path);
  struct stat own = {}, theirs = {};
  bool same = fd >= 0 && fstat(fd, &own) == 0 && own.st_ino == m.inode;
  if (same && own.st_dev != m.device) {
    same = std::any_of(std::begin(kWays), std::end(kWays), [&](const auto& way) {
      return stat(way(pid_, m).c_str(), &theirs) == 0 && theirs.st_ino == m.inode &&
             theirs.st_dev == own.st_dev;
    });
  }
  if (same) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

bool is_object(int fd) {
  char magic[SELFMAG] = {};
  return pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

// Files that hold no object. A loader maps its cache each time.
KnownOfFiles<bool>& data_files() {
  static thread_local KnownOfFiles<bool> files;
  return files;
}

bool is_known_data(const Mapping& m) {
  struct stat now = {};
  if (stat(m.path.c_str(), &now) != 0 || now.st_ino != m.inode || now.st_dev != m.device)
    return false;
  return data_files().find(version_in(now)) != nullptr;
}

// A program may map any number of files: only objects are held.
std::optional<std::string> hold_object(int fd, const std::string& path) {
  if (!is_object(fd)) {
    struct stat now = {};
    if (fstat(fd, &now) == 0) data_files().add(version_in(now), true);
    close(fd);
    return "";
  }
  const std::string name = hold_target_file(fd, path);
  return name.empty() ? std::nullopt : std::optional(name);
}

// The plain name comes first, for people and caches.
std::optional<std::string> Files::named(const Mapping& m) const {
  std::string name = held_target_file(m.path, m.device, m.inode);
  if (!name.empty() || is_known_data(m)) return name;
  int fd = open_mapped(m.path, m);
  if (fd >= 0) return hold_object(fd, m.path);
  for (const auto& way : kWays) {
    const std::string path = way(pid_, m);
    fd = open_mapped(path, m);
    if (fd >= 0) return hold_object(fd, path);
  }
  fd = open_of_process(pid_, m);
  if (fd < 0) return std::nullopt;
  return hold_object(fd, of_process(getpid(), "/fd/" + std::to_string(fd)));
}

// Load bias of a file that a segment of was mapped from: the address of `m` minus the ELF address
// of the same bytes. False: `m` is not of that segment.
bool bias_of(const Elf64_Phdr& s, const Mapping& m, uint64_t& bias) {
  const bool inside = s.p_type == PT_LOAD && m.offset >= (s.p_offset & ~(kPage - 1)) &&
                      m.offset < s.p_offset + s.p_filesz;
  if (inside) bias = m.begin - m.offset - (s.p_vaddr - s.p_offset);
  return inside;
}

// The same of a mapping that is executable.
bool bias_of_code(const ElfFile& elf, const Mapping& m, uint64_t& bias) {
  return std::any_of(elf.segments.begin(), elf.segments.end(), [&](const Elf64_Phdr& s) {
    return (s.p_flags & PF_X) != 0 && bias_of(s, m, bias);
  });
}

// The file's first byte is not where it would be.
bool is_partial(const MappedModule& module, const std::vector<Mapping>& maps) {
  const auto m = std::ranges::upper_bound(maps, module.begin, {}, &Mapping::end);
  return m == maps.end() || m->begin > module.begin || m->path != module.path;
}

// Begin and end of what there is.
void mark_partial(MappedModule& module, const std::vector<Mapping>& maps) {
  if (!is_partial(module, maps)) return;
  module.partial = true;
  module.begin = module.text.front().begin;
  module.end = module.text.back().end;
}

void add_text(MappedModule& module, const Mapping& m, const AddressRange& range) {
  module.text.push_back(range);
  module.shared = module.shared || m.shared;
  if (m.write) module.writable.push_back(range);
}

// FoundModule: with where the file would have its code, of which a part may be something else's.
struct FoundModule {
  MappedModule module;
  std::vector<AddressRange> code;
};
// By inode, path and bias.
using Found = std::map<std::tuple<uint64_t, std::string, uint64_t>, FoundModule>;

// Where all of the file lies, once `bias` is known.
void set_ranges(FoundModule& found, const ElfFile& elf) {
  MappedModule& module = found.module;
  module.begin = UINT64_MAX;
  for (const Elf64_Phdr& s : elf.segments) {
    if (s.p_type != PT_LOAD) continue;
    const uint64_t begin = module.bias + (s.p_vaddr & ~(kPage - 1));
    const uint64_t end = module.bias + ((s.p_vaddr + s.p_memsz + kPage - 1) & ~(kPage - 1));
    module.begin = std::min(module.begin, begin);
    module.end = std::max(module.end, end);
    if ((s.p_flags & PF_X) != 0) found.code.push_back({begin, end});
  }
}

bool may_hold_code(const Mapping& m) {
  return m.inode != 0 && !m.path.empty() && m.path[0] == '/' && !is_session_memory(m);
}

void add_by_text(const Files& files, const Mapping& m, Found& found) {
  MappedModule module;
  module.path = m.path;
  module.open_path = files.find(m);
  if (module.open_path.empty()) return;
  module.version = version_of(module.open_path);
  Result<ElfFile> elf = read_elf(module.open_path);
  if (!elf.ok() || !bias_of_code(elf.value(), m, module.bias)) {
    return;  // no ELF file: data mapped executable, or the session memory of a tracer
  }
  FoundModule& known = found[{m.inode, m.path, module.bias}];
  if (known.module.text.empty()) {
    known.module = module;
    set_ranges(known, elf.value());
  }
  add_text(known.module, m, {m.begin, m.end});
}

// Is this the code that the file has there? Its first bytes tell.
bool holds_code(const Files& files, const std::string& path, const Elf64_Phdr& s, uint64_t bias) {
  uint8_t in_file[64], in_memory[64];
  const Result<TargetFilePtr> file = open_target_file(path);
  const size_t bytes = std::min<uint64_t>(sizeof in_file, s.p_filesz);
  return file.ok() && file.value()->read(in_file, bytes, s.p_offset) &&
         files.memory().read(bias + s.p_vaddr, in_memory, bytes) &&
         std::equal(in_file, in_file + bytes, in_memory);
}

// What else is executable where the file would have its code.
void add_moved_text(const std::vector<Mapping>& maps, FoundModule& found) {
  for (const AddressRange& code : found.code) {
    auto m = std::ranges::upper_bound(maps, code.begin, {}, &Mapping::end);
    for (; m != maps.end() && m->begin < code.end; ++m) {
      const bool known = m->path == found.module.path && !found.module.text.empty();
      if (m->exec && !known)
        add_text(found.module, *m, {std::max(code.begin, m->begin), std::min(code.end, m->end)});
    }
  }
}

// A program may have moved its code into memory of its own, for huge pages: it is where it was, but
// in no mapping of the file. `m` is one of its other mappings. False: the file has none there.
bool add_by_data(const Files& files, const Mapping& m, Found& found) {
  FoundModule moved;
  MappedModule& module = moved.module;
  module.path = m.path;
  module.open_path = files.named(m).value_or("");
  if (module.open_path.empty()) return false;
  module.version = version_of(module.open_path);
  Result<ElfFile> elf = read_elf(module.open_path);
  if (!elf.ok()) return false;
  const std::vector<Elf64_Phdr>& segments = elf.value().segments;
  for (const Elf64_Phdr& s : segments) {
    if ((s.p_flags & PF_X) != 0 || !bias_of(s, m, module.bias)) continue;
    // The page may be of another segment, or the file only be read there.
    const bool right = std::any_of(segments.begin(), segments.end(), [&](const Elf64_Phdr& code) {
      return code.p_type == PT_LOAD && (code.p_flags & PF_X) != 0 &&
             holds_code(files, module.open_path, code, module.bias);
    });
    if (!right) continue;
    set_ranges(moved, elf.value());
    found[{m.inode, m.path, module.bias}] = moved;
    return true;
  }
  return false;
}

// What was found, with all that is known only when each file's mappings have been seen.
std::vector<MappedModule> finish(pid_t pid, const std::vector<Mapping>& maps, Found& found) {
  struct stat exe = {};
  const bool has_exe = stat_program(pid, &exe);
  std::vector<MappedModule> modules;
  for (auto& [key, each] : found) {
    if (each.module.text.empty() || !is_partial(each.module, maps)) add_moved_text(maps, each);
    if (each.module.text.empty()) continue;
    each.module.is_executable_file = has_exe && exe.st_ino == std::get<0>(key);
    mark_partial(each.module, maps);
    modules.push_back(std::move(each.module));
  }
  return modules;
}

}  // namespace

Result<std::vector<MappedModule>> mapped_modules(pid_t pid) {
  DJ_TRY(std::vector<Mapping> maps, read_maps(pid));
  return modules_among(pid, maps);
}

std::vector<MappedModule> modules_among(pid_t pid, const std::vector<Mapping>& maps) {
  pid = living_thread(pid);
  const Files files(pid, maps);
  Found found;
  std::set<std::pair<uint64_t, std::string>> known;
  for (const Mapping& m : maps) {
    if (m.exec && may_hold_code(m)) add_by_text(files, m, found);
  }
  for (const auto& [key, each] : found) known.emplace(std::get<0>(key), std::get<1>(key));
  for (const Mapping& m : maps) {
    if (m.exec || !may_hold_code(m) || known.contains({m.inode, m.path})) continue;
    if (add_by_data(files, m, found)) known.emplace(m.inode, m.path);
  }
  std::vector<MappedModule> modules = finish(pid, maps, found);
  for (const Mapping& m : maps) {
    if (m.path != "[vdso]") continue;
    MappedModule& vdso = modules.emplace_back();
    vdso.path = m.path;
    vdso.bias = vdso.begin = m.begin;
    vdso.end = m.end;
    vdso.text = {{m.begin, m.end}};
    vdso.is_vdso = true;
  }
  std::sort(modules.begin(), modules.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return modules;
}

std::optional<std::vector<MappedModule>> modules_of_code(pid_t pid,
                                                         const std::vector<Mapping>& code,
                                                         const MapQuery& query) {
  pid = living_thread(pid);
  const Files files(pid, code);
  Found found;
  for (const Mapping& m : code) {
    if (!files.named(m)) return std::nullopt;
    add_by_text(files, m, found);
  }
  std::vector<Mapping> around;
  for (const auto& [key, each] : found) {
    const auto near = query.in({each.module.begin, each.module.end});
    if (!near) return std::nullopt;
    around.insert(around.end(), near->begin(), near->end());
  }
  std::ranges::sort(around, {}, &Mapping::begin);
  return finish(pid, around, found);
}

std::vector<LostFile> lost_files(pid_t pid) {
  std::vector<LostFile> lost;
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  if (!maps.ok()) return lost;
  const Files files(living_thread(pid), maps.value());
  for (const Mapping& m : maps.value()) {
    if (!m.exec || m.shared || !may_hold_code(m) || files.named(m)) continue;
    const bool known = !lost.empty() && lost.back().path == m.path;
    // Of generated code there may be a file, too, which is none of ours.
    const bool in_memory = !known && !files.of_memory(m).empty();
    const bool is_object =
        in_memory || !(m.path.starts_with("/memfd:") || m.path.starts_with("/dev/"));
    if (!known && is_object) lost.push_back({m.path, in_memory});
  }
  return lost;
}

}  // namespace dj
