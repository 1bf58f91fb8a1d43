// SPDX-License-Identifier: Apache-2.0
// JitWatch names code that the program compiles while it runs, for stacks and samples. It follows
// the files in which the program tells of that code: /tmp/perf-PID.map, and jit-PID.dump, which the
// program has mapped.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/session/jit_code.h"
#include "runtime/session/stack_tables.h"

namespace dj {

// GrowingFile: a file that the target writes. The destructor closes it.
class GrowingFile {
 public:
  GrowingFile() = default;
  GrowingFile(const GrowingFile&) = delete;
  ~GrowingFile();
  enum class Found : uint8_t { No, Yes, Refused };
  // Opens the file below the target's root, with the target's rights. No: there is no such file, or
  // it was last written before `older`, and so is another process's. Refused: what is there is no
  // file of the target's own user; why() says what it is.
  Found open(pid_t pid, const std::string& path, std::chrono::system_clock::time_point older);
  void close();
  bool is_open() const { return fd_ >= 0; }
  bool is_removed() const;  // no name leads to it any more
  const std::string& why() const { return why_; }
  uint64_t inode() const { return inode_; }
  bool read(uint64_t at, std::span<uint8_t> bytes) const;  // all, or false
  size_t read_some(uint64_t at, std::span<char> bytes) const;

 private:
  int fd_ = -1;
  uint64_t inode_ = 0;
  std::string why_;
};

class JitWatch {
 public:
  // `stacks`, and `memory`, where they lie for handlers, outlive this object.
  JitWatch(pid_t pid, StackTables& stacks, std::span<uint8_t> memory);
  JitWatch(const JitWatch&) = delete;
  // Reads what the program has added. Call it every loop iteration. Afterwards handlers know the
  // code that the program has told of by now, or some tenths of a second ago.
  void look();

 private:
  using Clock = std::chrono::steady_clock;
  bool look_at_map();
  bool open_map();
  void restart_map();
  bool look_at_dump();
  void find_dump();
  void report_limits();
  void tell(const std::string& what, bool& told);

  const pid_t pid_;
  StackTables& stacks_;
  const std::span<uint8_t> memory_;
  std::chrono::system_clock::time_point begun_;  // when the process was started
  JitCode code_;
  uint64_t shown_ = 0;
  PerfMap map_;
  JitDump dump_;
  // How far one of the two files has been read.
  struct Reading {
    std::string path;
    GrowingFile file;
    uint64_t at = 0;  // of the map
    std::string end;  // what stood before `at` when it was read
    bool is_over = false;
  };
  Reading map_reading_, dump_reading_;
  struct Reported {
    bool map = false, dump = false, room = false, lines = false;
  } reported_;
  struct Times {
    Clock::time_point next_look = {}, next_search = {};
    Clock::duration search_step = std::chrono::milliseconds(100);
  } times_;
};

}  // namespace dj
