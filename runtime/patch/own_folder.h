// SPDX-License-Identifier: Apache-2.0
// OwnFolder opens, once, a folder that only djtap's user can have filled. Without this check an
// attacker could make root believe, write and remove files elsewhere: by an environment variable
// that survives sudo and names another folder, or by a link in the folder's place.
#pragma once
#include <string>
#include <utility>

namespace dj {

class OwnFolder {
 public:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  // A folder that the caller has opened. Takes over `fd`.
  OwnFolder(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  // Returns a descriptor of O_PATH, which this object closes; -1: the folder is not there, or is
  // not believed. It is believed if every folder and link of the path belongs to root or to djtap's
  // user, and only its owner can write to the folder itself. create: makes the folders of the path
  // that are missing.
  int open(bool create);
  // Why an existing folder is not believed; empty: it is.
  const std::string& refusal() const { return refusal_; }

 private:
  std::string path_, refusal_;
  int fd_ = -1;
};

}  // namespace dj
