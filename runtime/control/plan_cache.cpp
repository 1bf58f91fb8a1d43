// The file: a Head, then the answers as they lie in memory.
#include "runtime/control/plan_cache.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <type_traits>

#include "runtime/control/elf_file.h"

namespace dj {
namespace {

using arch::Judged;
using Syscall = arch::Checker::Syscall;
static_assert(std::is_trivially_copyable_v<Judged::Answer> &&
              std::is_trivially_copyable_v<Syscall>);

constexpr uint64_t kMostBytes = 256 << 20;  // of a file that is believed
constexpr size_t kNoteBytes = 1 << 16;      // of notes that are searched for the build-id

struct Head {
  char magic[8] = {'d', 'j', 't', 'p', 'l', 'a', 'n', '1'};
  char version[48] = {}, build_id[48] = {};
  uint64_t module_bytes = 0, module_changed_ns = 0;
  uint64_t answers[3] = {}, has_syscalls = 0, syscalls = 0;  // counts
  uint64_t checksum = 0;                                     // of all behind the head
};

uint64_t checksum(std::span<const char> bytes) {
  uint64_t sum = 0xcbf29ce484222325ull;
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, &bytes[at], std::min(sizeof word, bytes.size() - at));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
    sum ^= sum >> 32;
  }
  return sum;
}

// In hexadecimal; empty: the file names none.
std::string build_id(const std::string& path) {
  Result<ElfFile> elf = read_elf(path);
  std::ifstream file(path, std::ios::binary);
  if (!elf.ok() || !file) {
    return "";
  }
  for (const Elf64_Phdr& s : elf.value().segments) {
    if (s.p_type != PT_NOTE || s.p_filesz > kNoteBytes) {
      continue;
    }
    std::string notes(s.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(s.p_offset));
    file.read(notes.data(), static_cast<std::streamsize>(notes.size()));
    for (size_t at = 0; file && at + sizeof(Elf64_Nhdr) <= notes.size();) {
      Elf64_Nhdr note;
      memcpy(&note, &notes[at], sizeof note);
      size_t id = at + sizeof note + (note.n_namesz + 3u) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= 20 &&
          id + note.n_descsz <= notes.size()) {
        std::string text;
        for (size_t i = 0; i < note.n_descsz; i++) {
          text += fmt::format("{:02x}", static_cast<uint8_t>(notes[id + i]));
        }
        return text;
      }
      at = id + (note.n_descsz + 3u) / 4 * 4;
    }
  }
  return "";
}

// Only what this user wrote, and nobody else could.
std::string read_own(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return "";
  }
  struct stat info = {};
  std::string bytes;
  bool ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
              (info.st_mode & 022) == 0 && static_cast<uint64_t>(info.st_size) <= kMostBytes;
  if (ours) {
    bytes.resize(static_cast<size_t>(info.st_size));
    size_t at = 0;
    ssize_t got = 1;
    while (at < bytes.size() && (got = ::read(fd, &bytes[at], bytes.size() - at)) > 0) {
      at += static_cast<size_t>(got);
    }
    bytes.resize(at);
    futimens(fd, nullptr);  // it was used: trim() takes others first
  }
  close(fd);
  return bytes;
}

// Takes `count` records off the front of `bytes`; false: there are not so many.
template <typename T>
bool take(std::span<const char>& bytes, uint64_t count, std::vector<T>& out) {
  if (count > bytes.size() / sizeof(T)) {
    return false;
  }
  out.resize(count);
  memcpy(out.data(), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return true;
}

template <typename T>
void put(std::string& out, std::span<const T> records) {
  out.append(reinterpret_cast<const char*>(records.data()), records.size_bytes());
}

std::optional<arch::Known> decode(const Head& head, std::span<const char> body) {
  arch::Known known;
  for (size_t i = 0; i < known.judged.size(); i++) {
    std::vector<Judged::Answer> answers;
    if (!take(body, head.answers[i], answers) || !known.judged[i].restore(std::move(answers))) {
      return std::nullopt;
    }
  }
  std::vector<Syscall> syscalls;
  if (!take(body, head.syscalls, syscalls) || !body.empty()) {
    return std::nullopt;
  }
  if (head.has_syscalls != 0) {
    known.syscalls = std::move(syscalls);
  }
  return known;
}

}  // namespace

struct PlanCache::Key {
  Head head;  // without counts and checksum
  std::string path;
};

PlanCache PlanCache::of_user() {
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  std::string folder;
  if (cache != nullptr && cache[0] == '/') {
    folder = std::string(cache) + "/djtap";
  } else if (home != nullptr && home[0] == '/') {
    folder = std::string(home) + "/.cache/djtap";
  }
  return PlanCache(folder, folder.empty() ? "" : build_id("/proc/self/exe"));
}

std::optional<PlanCache::Key> PlanCache::key(const std::string& module) const {
  if (folder_.empty() || version_.empty()) {
    return std::nullopt;
  }
  std::string id = build_id(module);
  struct stat info = {};
  if (id.empty() || stat(module.c_str(), &info) != 0) {
    return std::nullopt;
  }
  Key key;
  version_.copy(key.head.version, sizeof key.head.version - 1);
  id.copy(key.head.build_id, sizeof key.head.build_id - 1);
  key.head.module_bytes = static_cast<uint64_t>(info.st_size);
  key.head.module_changed_ns = static_cast<uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                               static_cast<uint64_t>(info.st_mtim.tv_nsec);
  key.path = folder_ + "/" + id + "-" + version_.substr(0, 16);
  return key;
}

std::optional<arch::Known> PlanCache::load(const std::string& module) const {
  std::optional<Key> wanted = key(module);
  std::string bytes = wanted ? read_own(wanted->path) : "";
  Head head;
  if (bytes.size() < sizeof head) {
    return std::nullopt;
  }
  memcpy(&head, bytes.data(), sizeof head);
  bool fits = memcmp(&head, &wanted->head, offsetof(Head, answers)) == 0;
  std::span<const char> body = std::span(bytes).subspan(sizeof head);
  return fits && checksum(body) == head.checksum ? decode(head, body) : std::nullopt;
}

void PlanCache::save(const std::string& module, const arch::Known& known) const {
  std::optional<Key> file = key(module);
  if (!file) {
    return;
  }
  std::string body;
  for (size_t i = 0; i < known.judged.size(); i++) {
    file->head.answers[i] = known.judged[i].all().size();
    put(body, known.judged[i].all());
  }
  if (known.syscalls) {
    file->head.has_syscalls = 1;
    file->head.syscalls = known.syscalls->size();
    put(body, std::span<const Syscall>(*known.syscalls));
  }
  file->head.checksum = checksum(body);
  std::error_code none;
  std::filesystem::create_directories(folder_, none);
  std::string beside = fmt::format("{}.{}", file->path, getpid());
  int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return;
  }
  body.insert(0, reinterpret_cast<const char*>(&file->head), sizeof(Head));
  bool written = write(fd, body.data(), body.size()) == static_cast<ssize_t>(body.size());
  close(fd);
  if (!written || rename(beside.c_str(), file->path.c_str()) != 0) {
    unlink(beside.c_str());
  }
  trim(kMostKept);
}

void PlanCache::trim(uint64_t most) const {
  struct Kept {
    std::filesystem::file_time_type used;
    std::filesystem::path path;
    uint64_t bytes;
  };
  std::vector<Kept> all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    if (entry.is_regular_file(none)) {
      all.push_back({entry.last_write_time(none), entry.path(), entry.file_size(none)});
    }
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.used > b.used; });
  uint64_t sum = 0;
  for (const Kept& file : all) {
    sum += file.bytes;
    if (sum > most) {
      std::filesystem::remove(file.path, none);
    }
  }
}

}  // namespace dj
