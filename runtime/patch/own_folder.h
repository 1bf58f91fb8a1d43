// SPDX-License-Identifier: Apache-2.0
// OwnFolder: a folder that only djtap's user can have filled, opened once. Whoever names a folder
// by an environment variable that survives sudo, or puts a link where it was, would else let root
// believe, write and remove files there.
#pragma once
#include <string>
#include <utility>

namespace dj {

class OwnFolder {
 public:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  // One that is open already. Takes over `fd`.
  OwnFolder(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  // A descriptor of O_PATH that is closed with this object; -1: there is none, or it is not
  // believed. Every folder and link of the path must belong to root or to djtap's user, and the
  // folder itself be writable for its owner only. create: makes what is missing.
  int open(bool create);
  // Why an existing folder is not believed; empty: it is.
  const std::string& refusal() const { return refusal_; }

 private:
  std::string path_, refusal_;
  int fd_ = -1;
};

}  // namespace dj
