// The file: a Head, the key, then the content, each at a multiple of eight bytes.
#include "runtime/patch/kept_files.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <utility>

#include "compiler/base/parallel.h"
#include "compiler/base/target_file.h"
#include "runtime/process/elf_file.h"

namespace dj {
namespace {

constexpr uint64_t kMostBytes = 256 << 20;  // of a file that is believed
constexpr size_t kNoteBytes = 1 << 16;      // of notes that are searched for the build-id

struct Head {
  char magic[8] = {'d', 'j', 't', 'k', 'e', 'p', 't', '1'};
  uint64_t key_bytes = 0, bytes = 0;
  uint64_t checksum = 0;  // of the content
};

uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// Four sums side by side: the processor need not wait for one multiplication after the other.
uint64_t checksum_of_piece(std::span<const char> bytes) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ull;
  std::array<uint64_t, 4> sums = {1, 2, 3, bytes.size()};
  const auto add = [](uint64_t& sum, uint64_t word) {
    sum = (sum ^ word) * kFactor;
    sum ^= sum >> 32;
  };
  size_t at = 0;
  for (; at + sizeof sums <= bytes.size(); at += sizeof sums) {
    std::array<uint64_t, 4> words;
    memcpy(&words, &bytes[at], sizeof words);
    for (size_t i = 0; i < words.size(); i++) add(sums[i], words[i]);
  }
  for (; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, &bytes[at], std::min(sizeof word, bytes.size() - at));
    add(sums[0], word);
  }
  for (size_t i = 1; i < sums.size(); i++) add(sums[0], sums[i]);
  return sums[0];
}

uint64_t checksum(std::span<const char> bytes) {
  constexpr size_t kPiece = 1 << 20;
  if (bytes.size() <= kPiece) return checksum_of_piece(bytes);
  std::vector<uint64_t> sums((bytes.size() + kPiece - 1) / kPiece);
  parallel<1>(sums.size(), [&](size_t i) {
    sums[i] =
        checksum_of_piece(bytes.subspan(i * kPiece, std::min(kPiece, bytes.size() - i * kPiece)));
  });
  return checksum_of_piece(
      {reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof sums[0]});
}

// In hexadecimal; empty: the file names none.
std::string build_id(const std::string& path) {
  Result<ElfFile> elf = read_elf(path);
  Result<TargetFilePtr> file = open_target_file(path);
  if (!elf.ok() || !file.ok()) {
    return "";
  }
  for (const Elf64_Phdr& s : elf.value().segments) {
    if (s.p_type != PT_NOTE || s.p_filesz > kNoteBytes) {
      continue;
    }
    std::string notes(s.p_filesz, '\0');
    if (!file.value()->read(notes.data(), notes.size(), s.p_offset)) {
      continue;
    }
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
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
std::optional<KeptBytes> map_own(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return std::nullopt;
  }
  struct stat info = {};
  void* at = MAP_FAILED;
  bool ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
              (info.st_mode & 022) == 0 && info.st_size > 0 &&
              static_cast<uint64_t>(info.st_size) <= kMostBytes;
  const auto size = static_cast<size_t>(info.st_size);
  if (ours) {
    at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    futimens(fd, nullptr);  // it was used: trim() takes others first
  }
  close(fd);
  if (at == MAP_FAILED) {
    return std::nullopt;
  }
  std::shared_ptr<const void> mapping(
      at, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return KeptBytes{{static_cast<const char*>(at), size}, std::move(mapping)};
}

bool write_all(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return true;
}

}  // namespace

KeptFiles::KeptFiles(std::string folder, std::string version)
    : folder_(std::move(folder)), version_(std::move(version)) {}

KeptFiles KeptFiles::of_user() {
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  std::string folder;
  if (cache != nullptr && cache[0] == '/') {
    folder = std::string(cache) + "/djtap";
  } else if (home != nullptr && home[0] == '/') {
    folder = std::string(home) + "/.cache/djtap";
  }
  return KeptFiles(folder, folder.empty() ? "" : build_id("/proc/self/exe"));
}

std::string KeptFiles::path(const std::string& name) const {
  return folder_ + "/" + name + "-" + version_.substr(0, 16);
}

std::optional<KeptBytes> KeptFiles::load(const std::string& name, const std::string& key) const {
  std::optional<KeptBytes> file = keeps() ? map_own(path(name)) : std::nullopt;
  const std::string wanted = full_key(key);
  Head head;
  if (!file || file->bytes.size() < sizeof head) {
    return std::nullopt;
  }
  memcpy(&head, file->bytes.data(), sizeof head);
  const std::span<const char> rest = file->bytes.subspan(sizeof head);
  const uint64_t begin = padded(wanted.size());
  if (memcmp(head.magic, Head().magic, sizeof head.magic) != 0 || head.key_bytes != wanted.size() ||
      rest.size() < begin || rest.size() - begin != head.bytes ||
      memcmp(rest.data(), wanted.data(), wanted.size()) != 0) {
    return std::nullopt;
  }
  file->bytes = rest.subspan(begin);
  return checksum(file->bytes) == head.checksum ? file : std::nullopt;
}

void KeptFiles::save(const std::string& name, const std::string& key,
                     std::span<const char> bytes) const {
  if (!keeps()) {
    return;
  }
  std::error_code none;
  std::filesystem::create_directories(folder_, none);
  const std::string file = path(name), beside = fmt::format("{}.{}", file, getpid());
  int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return;
  }
  std::string wanted = full_key(key);
  Head head;
  head.key_bytes = wanted.size();
  head.bytes = bytes.size();
  head.checksum = checksum(bytes);
  wanted.resize(padded(wanted.size()));
  const bool written = write_all(fd, {reinterpret_cast<const char*>(&head), sizeof head}) &&
                       write_all(fd, wanted) && write_all(fd, bytes);
  close(fd);
  if (!written || rename(beside.c_str(), file.c_str()) != 0) {
    unlink(beside.c_str());
  }
}

void KeptFiles::trim(uint64_t most, size_t most_files) const {
  struct Kept {
    timespec used;
    std::string name;
    uint64_t bytes;
  };
  std::vector<Kept> all;
  DIR* folder = keeps() ? opendir(folder_.c_str()) : nullptr;
  if (folder == nullptr) return;
  const int at = dirfd(folder);
  while (const dirent* entry = readdir(folder)) {
    struct stat info = {};
    if (fstatat(at, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
      all.push_back({info.st_mtim, entry->d_name, static_cast<uint64_t>(info.st_size)});
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) > std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  uint64_t sum = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    sum += all[i].bytes;
    if (sum > most || i >= most_files) unlinkat(at, all[i].name.c_str(), 0);
  }
  closedir(folder);
}

std::string file_identity(const std::string& path) {
  const std::string id = build_id(path);
  Result<TargetFilePtr> file = open_target_file(path);
  return id.empty() || !file.ok() ? "" : id + " " + file.value()->times();
}

std::string short_name(const std::string& key) { return fmt::format("{:016x}", checksum(key)); }

}  // namespace dj
