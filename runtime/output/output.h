// SPDX-License-Identifier: Apache-2.0
// Output writes the script's text to stdout or to the file of -o. It owns the descriptor that it
// has opened.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/result.h"
#include "runtime/process/own_files.h"

namespace dj {

// Rotation says how output is split into files. With -S they are FILE.0, FILE.1 .., each of `bytes`
// at most; a longer line has a file of its own. Without -S: FILE, and after each switch_file()
// FILE.1, FILE.2 ..
struct Rotation {
  uint64_t bytes = 0;  // 0: files grow
  uint32_t files = 0;  // how many stay, the newest; 0: all
};

// Enclosure is the text that makes a list of lines a whole, such as a JSON array of objects: "[",
// "," and "]".
struct Enclosure {
  std::string head, between,
      tail;  // a line in front of all, the end of each line but the last, a line behind all
};

class Output {
 public:
  // Opens the output. path empty: stdout, without rotation. Truncates an existing file. Creates
  // files like create_file() (own_files.h), by the user's own rights; fails like it.
  static Result<Output> open(const std::string& path, const Rotation& rotation = {});
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();  // end_enclosure(), flush()

  // Buffers the text; writes the buffer out when it holds kMostWaiting bytes.
  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kMostWaiting) flush();
  }
  // Writes the buffer out.
  void flush();
  // Makes each further line an item: every file has the enclosure's head in front of its items and
  // the tail behind them, so that each file of -S is whole by itself. One enclosure at a time.
  void enclose(Enclosure enclosure);
  // Writes the last tail; further output is text again. Does nothing without an enclosure.
  void end_enclosure();
  // Writes the buffer to this file and opens the next one for further output. Stdout, devices and
  // pipes have no next file.
  void switch_file();
  // Whether a write has failed (EPIPE, ENOSPC ..). Output writes no more then; error() says why.
  bool closed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  // Whether a write has failed for another reason than a reader that left (EPIPE).
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
  bool has_head_ = false;  // this file has the head and an item
  uint32_t number_ = 0;    // of the file that Output writes now
};

}  // namespace dj
