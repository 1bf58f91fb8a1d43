// SPDX-License-Identifier: Apache-2.0
// Goes down the path itself, one component at a time, so that what was looked at is what is opened.
#include "runtime/patch/own_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <sstream>
#include <utility>

namespace dj {
namespace {

constexpr int kMostLinks = 40;
constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

void put_in_front(std::deque<std::string>& parts, const std::string& path) {
  std::istringstream text(path);
  std::deque<std::string> more;
  for (std::string part; std::getline(text, part, '/');) {
    if (!part.empty() && part != ".") more.push_back(part);
  }
  parts.insert(parts.begin(), more.begin(), more.end());
}

bool is_ours(const struct stat& info) { return info.st_uid == 0 || info.st_uid == geteuid(); }

// Others may exchange what is in it.
bool is_open_to_all(const struct stat& info) {
  return (info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0;
}

// Walk: where a path has led so far.
class Walk {
 public:
  explicit Walk(const std::string& path) : at_(::open("/", kFolder)) { put_in_front(rest_, path); }
  ~Walk() {
    if (at_ >= 0) close(at_);
  }
  Walk(const Walk&) = delete;

  // The folder at the end; -1: there is none, or why() says why it is not believed.
  int go(bool create) {
    while (at_ >= 0 && !rest_.empty() && why_.empty()) {
      const std::string part = rest_.front();
      rest_.pop_front();
      step(part, create);
    }
    struct stat info = {};
    if (at_ < 0 || !why_.empty() || fstat(at_, &info) != 0) return -1;
    if (info.st_uid != geteuid()) why_ = "it belongs to another user";
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) why_ = "others may write it";
    return why_.empty() ? std::exchange(at_, -1) : -1;
  }
  const std::string& why() const { return why_; }

 private:
  void step(const std::string& part, bool create) {
    if (create && mkdirat(at_, part.c_str(), 0700) != 0 && errno != EEXIST) return move(-1);
    struct stat info = {}, opened = {};
    if (fstatat(at_, part.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return move(-1);
    if (!is_ours(info)) return refuse(part + " of its path belongs to another user");
    if (S_ISLNK(info.st_mode)) return follow(part);
    move(openat(at_, part.c_str(), kFolder));
    if (at_ < 0 || rest_.empty()) return;  // go() looks at the last one
    if (fstat(at_, &opened) != 0 || !is_ours(opened) || is_open_to_all(opened))
      refuse("others may write " + part + " of its path");
  }
  void follow(const std::string& link) {
    char target[PATH_MAX];
    const ssize_t size = readlinkat(at_, link.c_str(), target, sizeof target);
    if (size <= 0 || ++links_ > kMostLinks) return move(-1);
    const std::string path(target, static_cast<size_t>(size));
    if (path[0] == '/') move(::open("/", kFolder));
    put_in_front(rest_, path);
  }
  void move(int fd) {
    close(at_);
    at_ = fd;
  }
  void refuse(std::string why) { why_ = std::move(why); }

  int at_, links_ = 0;
  std::deque<std::string> rest_;
  std::string why_;
};

}  // namespace

OwnFolder::~OwnFolder() {
  if (fd_ >= 0) close(fd_);
}

int OwnFolder::open(bool create) {
  if (fd_ >= 0 || path_.empty() || path_[0] != '/') return fd_;
  Walk walk(path_);
  fd_ = walk.go(create);
  refusal_ = walk.why();
  return fd_;
}

}  // namespace dj
