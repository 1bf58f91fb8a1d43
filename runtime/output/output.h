// SPDX-License-Identifier: Apache-2.0
// Output: where the script's text goes: stdout, or the file of -o. Owns the descriptor it opened.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/result.h"
#include "runtime/process/own_files.h"

namespace dj {

// -S: FILE.0, FILE.1 .., each of at most `bytes`, a line longer than that alone in one. Without -S:
// FILE, and behind a switch_file() FILE.1, FILE.2 ..
struct Rotation {
  uint64_t bytes = 0;  // 0: files grow
  uint32_t files = 0;  // the newest so many are kept; 0: all
};

// What makes a list of lines a whole, such as a JSON array of objects: "[", "," and "]".
struct Enclosure {
  std::string head, between,
      tail;  // a line in front of all, the end of each line but the last, a line behind all
};

class Output {
 public:
  // path empty: stdout, without rotation. An existing file is truncated. The files are made as
  // create_file() does (own_files.h), by the user's own rights.
  static Result<Output> open(const std::string& path, const Rotation& rotation = {});
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();  // end_enclosure(), flush()

  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kMostWaiting) flush();
  }
  void flush();
  // Each line that comes from now on is an item: every file has the enclosure's head in front of
  // its items and the tail behind them, so that each of -S is whole by itself. One at a time.
  void enclose(Enclosure enclosure);
  // Writes the last tail; what comes now is text again. Without an enclosure it does nothing.
  void end_enclosure();
  // What was written so far goes to this file, what comes to the next one. Stdout, devices
  // and pipes have no next one.
  void switch_file();
  // A write failed (EPIPE, ENOSPC ...): nothing is written any more; error() says why.
  bool closed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  // The same, but not because the reader had enough (EPIPE).
  bool failed() const { return closed() && !reader_left_; }

 private:
  static constexpr size_t kMostWaiting = 1 << 20;
  Output(int fd, bool owned) : fd_(fd), owned_(owned) {}
  void put(std::string_view text);
  void flush_text();
  void flush_items();
  void put_tail();
  size_t fitting(std::string_view text) const;
  void next_file();
  std::string file() const;

  int fd_;
  bool owned_;
  std::string buffer_, error_;
  bool reader_left_ = false;
  std::string path_;  // empty: there is no next file
  OwnFiles files_;
  Rotation rotation_;
  uint64_t in_file_ = 0;
  std::optional<Enclosure> enclosure_;
  bool has_head_ = false;  // the head, and an item, stand in this file
  uint32_t number_ = 0;  // of the file that is written
};

}  // namespace dj
