// SPDX-License-Identifier: Apache-2.0
// JitCode holds the functions that a program has compiled while it runs. The program tells of them
// in one of two forms of perf's: lines of /tmp/perf-PID.map, and records of jit-PID.dump. djtap
// does not trust what the program says: it bounds numbers, and makes names printable.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace dj {

struct JitFunction {
  uint64_t end = 0;
  std::string name;
};

class JitCode {
 public:
  static constexpr size_t kMost = 131'072;  // functions at a time

  // Adds a function; replaces functions that overlap it. Returns false if the numbers cannot be a
  // function's, or the name is empty. A full JitCode drops it.
  bool add(uint64_t begin, uint64_t size, std::string_view name);
  // Moves the function that begins at `from` to `to`: a garbage collector has moved it.
  void move(uint64_t from, uint64_t to);
  const std::map<uint64_t, JitFunction>& functions() const { return functions_; }  // by begin
  bool is_full() const { return functions_.size() >= kMost; }
  // How often a function was added or moved.
  uint64_t changes() const { return changes_; }

 private:
  void remove(uint64_t begin, uint64_t end);

  std::map<uint64_t, JitFunction> functions_;  // disjoint
  uint64_t changes_ = 0;
};

// PerfMap: reads a map's text as it grows, in pieces of any size. A line is "START SIZE name", both
// numbers in hexadecimal.
class PerfMap {
 public:
  explicit PerfMap(JitCode& code) : code_(code) {}
  void take(std::string_view text);
  // Begins another text. What is known stays until another function lies there.
  void restart() { rest_.clear(); }
  uint64_t wrong_lines() const { return wrong_; }

 private:
  void take_line(std::string_view line);

  JitCode& code_;
  std::string rest_;  // of a line that is not complete
  uint64_t wrong_ = 0;
};

// JitDump: reads the records of a dump. read(offset, bytes) fills `bytes`; it is false where the
// file does not have as many yet.
class JitDump {
 public:
  explicit JitDump(JitCode& code) : code_(code) {}
  // Takes the records that are complete, 20,000 at most. False: there was none.
  template <typename Read>
  bool take(const Read& read) {
    constexpr int kMostAtOnce = 20'000;
    int taken = 0;
    while (taken < kMostAtOnce && !is_broken_) {
      const size_t need = at_ == 0 ? kHeaderBytes : kRecordBytes;
      uint8_t head[kHeaderBytes];
      if (!read(at_, std::span(head, need))) break;
      const uint64_t size = bytes_of(std::span(head, need));
      if (is_broken_) break;
      std::string body(body_bytes(size), 0);
      if (!read(at_, std::span(reinterpret_cast<uint8_t*>(body.data()), body.size()))) break;
      take_record(body);
      at_ += size;
      taken++;
    }
    return taken > 0;
  }
  bool is_broken() const { return is_broken_; }  // no next record can be found
  uint64_t at() const { return at_; }            // offset of the first record that it has not taken

 private:
  static constexpr size_t kHeaderBytes = 40, kRecordBytes = 16;

  // Returns the size of the file's header, or of the record that begins so.
  uint64_t bytes_of(std::span<const uint8_t> head);
  // Returns how many bytes of a record matter: not the code itself.
  static size_t body_bytes(uint64_t size);
  void take_record(std::string_view body);

  JitCode& code_;
  uint64_t at_ = 0;
  bool is_broken_ = false;
};

}  // namespace dj
