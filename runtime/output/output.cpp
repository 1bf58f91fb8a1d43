// SPDX-License-Identifier: Apache-2.0
// Buffered text to one descriptor; what was written stays readable whatever happens later.
#include "runtime/output/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "runtime/output/write_whole.h"
#include "runtime/process/broker.h"

namespace dj {
namespace {

std::string numbered(const std::string& path, uint32_t number) {
  return fmt::format("{}.{}", path, number);
}

}  // namespace

Result<Output> Output::open(const std::string& path, const Rotation& rotation) {
  if (path.empty()) return Output(STDOUT_FILENO, false);
  OwnFiles files({path, rotation.bytes > 0, rotation.files, "", {}});
  DJ_TRY(int fd, next_output_of(files));
  Output output(fd, true);
  output.files_ = std::move(files);
  output.rotation_ = rotation;
  struct stat what = {};
  bool regular = fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
  if (regular || rotation.bytes > 0) output.path_ = path;  // a device has no second one
  return output;
}

Output::Output(Output&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owned_(other.owned_),
      buffer_(std::move(other.buffer_)),
      error_(std::move(other.error_)),
      reader_left_(other.reader_left_),
      path_(std::move(other.path_)),
      files_(std::move(other.files_)),
      rotation_(other.rotation_),
      in_file_(other.in_file_),
      enclosure_(std::move(other.enclosure_)),
      has_head_(other.has_head_),
      number_(other.number_) {}

Output::~Output() {
  if (fd_ < 0) return;
  try {
    end_enclosure();
    flush();
  } catch (const std::exception&) {
    std::fputs("djtap: too little memory: the output's last lines are lost\n", stderr);
  }
  if (owned_) close(fd_);
}

void Output::put(std::string_view text) {
  if (closed()) return;
  const size_t done = write_whole(fd_, text);
  if (done < text.size()) {
    reader_left_ = errno == EPIPE;
    error_ = std::strerror(errno);
    if (!path_.empty()) error_ += fmt::format(" ({})", file());
  }
  in_file_ += done;
}

// What is written now.
std::string Output::file() const {
  return rotation_.bytes > 0 || number_ > 0 ? numbered(path_, number_) : path_;
}

// Bytes of whole lines that this file still takes; a fresh file takes any first line.
size_t Output::fitting(std::string_view text) const {
  uint64_t room = rotation_.bytes > in_file_ ? rotation_.bytes - in_file_ : 0;
  if (text.size() <= room) return text.size();
  size_t last = room == 0 ? std::string_view::npos : text.rfind('\n', room - 1);
  if (last != std::string_view::npos) return last + 1;
  return in_file_ > 0 ? 0 : std::min(text.find('\n'), text.size() - 1) + 1;
}

void Output::switch_file() {
  flush();
  if (path_.empty() || closed()) return;
  if (enclosure_) put_tail();
  next_file();
}

void Output::next_file() {
  ++number_;
  Result<int> made = next_output_of(files_);
  if (!made.ok()) {
    error_ = made.error().message;
    return;
  }
  close(fd_);
  fd_ = made.value();
  in_file_ = 0;
}

void Output::enclose(Enclosure enclosure) {
  flush();
  enclosure_ = std::move(enclosure);
  has_head_ = false;
}

void Output::end_enclosure() {
  if (!enclosure_) return;
  if (!buffer_.empty() && !buffer_.ends_with('\n')) buffer_ += '\n';
  flush();
  put_tail();
  enclosure_.reset();
}

// What ends this file's list, whether it has an item or none.
void Output::put_tail() {
  put(has_head_ ? "\n" + enclosure_->tail + "\n" : enclosure_->head + enclosure_->tail + "\n");
  has_head_ = false;
}

void Output::flush() { enclosure_ ? flush_items() : flush_text(); }

// A line without its end stays in the buffer: its rest is to come.
void Output::flush_items() {
  const Enclosure& around = *enclosure_;
  size_t begin = 0;
  std::string text;
  for (size_t end; (end = buffer_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view item = std::string_view(buffer_).substr(begin, end - begin);
    const size_t size = around.between.size() + 1 + item.size() + 1 + around.tail.size() + 1;
    const bool fits = rotation_.bytes == 0 || in_file_ + text.size() + size <= rotation_.bytes;
    if (has_head_ && !fits) {
      put(text);
      put_tail();
      next_file();
      text.clear();
    }
    text += (has_head_ ? around.between : around.head) + "\n";
    text += item;
    has_head_ = true;
  }
  put(text);
  buffer_.erase(0, begin);
}

void Output::flush_text() {
  std::string_view text = buffer_;
  while (!text.empty() && !closed()) {
    size_t size = rotation_.bytes > 0 ? fitting(text) : text.size();
    if (size == 0) {
      next_file();
      continue;
    }
    put(text.substr(0, size));
    text.remove_prefix(size);
  }
  buffer_.clear();
}

}  // namespace dj
