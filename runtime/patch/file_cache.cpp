// SPDX-License-Identifier: Apache-2.0
// The file: a Head, the key, then the content, each at a multiple of eight bytes.
#include "runtime/patch/file_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "compiler/base/mapped_bytes.h"
#include "compiler/base/parallel.h"
#include "compiler/base/target_file.h"
#include "runtime/patch/build_id.h"

namespace dj {
namespace {

constexpr uint64_t kMostFileBytes = 256 << 20;  // of a file that is believed

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

FileCache::FileCache(std::string folder, std::string version,
                     std::function<void(const std::string&)> tell)
    : path_(std::move(folder)),
      version_(std::move(version)),
      tell_(std::move(tell)),
      folder_(std::make_shared<OwnFolder>(path_)) {}

FileCache::FileCache(std::string path, int fd, std::string version,
                     std::function<void(const std::string&)> tell)
    : path_(std::move(path)),
      version_(std::move(version)),
      tell_(std::move(tell)),
      folder_(std::make_shared<OwnFolder>(path_, fd)) {}

namespace {

// The folder that work_as() has made; -1: it could not, or was not called.
struct OtherUsers {
  bool is_set = false;
  std::string path;
  int fd = -1;
};

OtherUsers& other_users() {
  static OtherUsers folder;
  return folder;
}

std::string users_folder() {
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  std::string folder;
  if (cache != nullptr && cache[0] == '/') {
    folder = std::string(cache) + "/djtap";
  } else if (home != nullptr && home[0] == '/') {
    folder = std::string(home) + "/.cache/djtap";
  }
  return folder;
}

}  // namespace

FileCache FileCache::of_user(std::function<void(const std::string&)> tell) {
  const OtherUsers& other = other_users();
  const std::string folder = other.is_set ? other.path : users_folder();
  const std::string version = folder.empty() ? "" : build_id("/proc/self/exe");
  if (other.is_set && other.fd >= 0)
    return FileCache(folder, dup(other.fd), version, std::move(tell));
  return other.is_set ? none() : FileCache(folder, version, std::move(tell));
}

void FileCache::work_without() { other_users().is_set = true; }

void FileCache::work_as(uid_t uid, gid_t gid) {
  OtherUsers& other = other_users();
  other.is_set = true;
  const std::string own = users_folder(), name = fmt::format("of-{}", uid);
  OwnFolder folder(own);
  const int at = own.empty() ? -1 : folder.open(true);
  if (at < 0) return;
  mkdirat(at, name.c_str(), 0700);
  const int fd = openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info = {};
  const bool known = fd >= 0 && fstat(fd, &info) == 0 && (info.st_mode & 077) == 0;
  if (known && (info.st_uid == uid || (info.st_uid == geteuid() && fchown(fd, uid, gid) == 0))) {
    other.path = own + "/" + name;
    other.fd = fd;
  } else if (fd >= 0) {
    close(fd);
  }
}

std::string FileCache::file_name(const std::string& name) const {
  return name + "-" + version_.substr(0, 16);
}

void FileCache::tell(const std::string& what) const {
  if (tell_) tell_(what);
}

int FileCache::folder(bool create) const {
  if (!keeps()) return -1;
  const bool is_known = !folder_->refusal().empty();
  const int fd = folder_->open(create);
  if (fd < 0 && !is_known && !folder_->refusal().empty())
    tell("nothing is kept in " + path_ + ": " + folder_->refusal());
  return fd;
}

std::string FileCache::why_not() const {
  if (!keeps()) return "no folder is named for it (HOME, XDG_CACHE_HOME)";
  errno = 0;
  const int at = folder(true);
  const bool writable = at >= 0 && faccessat(at, ".", W_OK | X_OK, AT_EACCESS) == 0;
  if (writable) return "";
  if (!folder_->refusal().empty()) return folder_->refusal();
  return strerror(errno != 0 ? errno : EACCES);
}

// Only what this user wrote, and nobody else could.
std::optional<CachedBytes> FileCache::map_own(const std::string& name) const {
  const int folder = this->folder(false);
  if (folder < 0) return std::nullopt;
  constexpr int kHow = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  const int fd = openat(folder, name.c_str(), kHow);
  struct stat info = {};
  if (fd < 0 || fstat(fd, &info) != 0) {
    if (errno == ELOOP) tell(name + " is not used: it is a link");
    return std::nullopt;
  }
  const bool ours = S_ISREG(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 022) == 0;
  const auto size = static_cast<uint64_t>(info.st_size);
  std::shared_ptr<MappedBytes> mapped;
  if (!ours) {
    tell(name + " is not used: others may have written it");
  } else if (size <= kMostFileBytes) {
    mapped = std::make_shared<MappedBytes>(fd, size);
    futimens(fd, nullptr);  // it was used: trim() takes others first
  }
  close(fd);
  if (mapped == nullptr || mapped->bytes().empty()) return std::nullopt;
  const auto* bytes = reinterpret_cast<const char*>(mapped->bytes().data());
  return CachedBytes{{bytes, mapped->bytes().size()}, std::move(mapped)};
}

std::optional<CachedBytes> FileCache::load(const std::string& name, const std::string& key) const {
  std::optional<CachedBytes> file = map_own(file_name(name));
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

void FileCache::save(const std::string& name, const std::string& key,
                     std::span<const char> bytes) const {
  const int folder = this->folder(true);
  if (folder < 0) {
    return;
  }
  const std::string file = file_name(name), beside = fmt::format("{}.{}", file, getpid());
  const int fd =
      openat(folder, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
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
  if (!written || renameat(folder, beside.c_str(), folder, file.c_str()) != 0) {
    unlinkat(folder, beside.c_str(), 0);
  }
}

void FileCache::trim(uint64_t most, size_t most_files) const {
  struct Kept {
    timespec used;
    std::string name;
    uint64_t bytes;
  };
  std::vector<Kept> all;
  const int own = this->folder(false);
  const int listed = own < 0 ? -1 : openat(own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = listed < 0 ? nullptr : fdopendir(listed);
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
