// SPDX-License-Identifier: Apache-2.0
// Opens the files as soon as they are there, and reads what has been added to them.
#include "runtime/session/jit_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <vector>

#include "compiler/base/written_file.h"
#include "runtime/output/messages.h"
#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/rights.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

constexpr uint64_t kMostOfMap = 64 << 20;  // bytes of a map that are read
constexpr uint64_t kAtOnce = 8 << 20;      // of them at one look
constexpr std::chrono::milliseconds kStep(50), kShortest(100);
constexpr std::chrono::seconds kLongestSearchStep(2);

std::chrono::system_clock::time_point begin_of(pid_t pid) {
  const double age = seconds_since_start(pid).value_or(0);
  return std::chrono::system_clock::now() - std::chrono::seconds(static_cast<long>(age) + 2);
}

// jit-PID.dump among the files that the process has mapped: its path and inode. Empty: none.
std::pair<std::string, uint64_t> mapped_dump(pid_t pid) {
  std::string maps;
  if (!read_process_file(pid, ProcessFile::Maps, maps)) return {};
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    if (!line.ends_with(".dump")) continue;
    std::istringstream words(line);
    std::string range, rights, offset, device;
    uint64_t inode = 0;
    words >> range >> rights >> offset >> device >> inode >> std::ws;
    std::string path;
    std::getline(words, path);
    const size_t name = path.rfind('/') + 1;
    if (path.starts_with('/') && path.compare(name, 4, "jit-") == 0) return {path, inode};
  }
  return {};
}

}  // namespace

GrowingFile::~GrowingFile() { close(); }

void GrowingFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool GrowingFile::is_removed() const {
  struct stat info = {};
  return fstat(fd_, &info) == 0 && info.st_nlink == 0;
}

GrowingFile::Found GrowingFile::open(pid_t pid, const std::string& path,
                                     std::chrono::system_clock::time_point older) {
  const int fd = open_written_file(fmt::format("/proc/{}/root", pid), path);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return Found::No;
  if (fd < 0) {
    why_ = errno == ELOOP ? "is a link"
           : errno == ENXIO || errno == EISDIR
               ? "is no regular file"
               : std::string("cannot be opened: ") + strerror(errno);
    return Found::Refused;
  }
  struct stat info = {};
  const Result<Credentials> owner = credentials_of(pid);
  const bool is_known = fstat(fd, &info) == 0 && owner.ok();
  const bool is_older = std::chrono::system_clock::from_time_t(info.st_mtim.tv_sec) < older;
  if (!is_known || is_older) {
    ::close(fd);
    return Found::No;
  }
  const auto& uids = owner.value().uids;
  if (std::find(uids.begin(), uids.end(), info.st_uid) == uids.end()) {
    ::close(fd);
    why_ = fmt::format("belongs to user {}, not to the program's", info.st_uid);
    return Found::Refused;
  }
  fd_ = fd;
  inode_ = info.st_ino;
  return Found::Yes;
}

bool GrowingFile::read(uint64_t at, std::span<uint8_t> bytes) const {
  return pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
         static_cast<ssize_t>(bytes.size());
}

size_t GrowingFile::read_some(uint64_t at, std::span<char> bytes) const {
  const ssize_t count = pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
  return count > 0 ? static_cast<size_t>(count) : 0;
}

JitWatch::JitWatch(pid_t pid, StackTables& stacks, std::span<uint8_t> memory)
    : pid_(pid),
      stacks_(stacks),
      memory_(memory),
      begun_(begin_of(pid)),
      map_(code_),
      dump_(code_) {
  map_reading_.path = fmt::format("/tmp/perf-{}.map", own_number(pid));
}

void JitWatch::tell(const std::string& what, bool& told) {
  if (!told) report_warning("DJ5913", what);
  told = true;
}

bool JitWatch::open_map() {
  const GrowingFile::Found found = map_reading_.file.open(pid_, map_reading_.path, begun_);
  map_reading_.is_over = found == GrowingFile::Found::Refused;
  if (map_reading_.is_over)
    tell(fmt::format("{} {}: the names of compiled code that may stand there are not used",
                     map_reading_.path, map_reading_.file.why()),
         reported_.map);
  return map_reading_.file.is_open();
}

// A program may write all anew, in the same file or in another one of that name: java does at each
// `jcmd PID Compiler.perfmap`.
void JitWatch::restart_map() {
  map_.restart();
  map_reading_.at = 0;
  map_reading_.end.clear();
}

bool JitWatch::look_at_map() {
  constexpr size_t kEnd = 256;  // bytes
  if (map_reading_.is_over) return false;
  if (map_reading_.file.is_open() && map_reading_.file.is_removed()) {
    map_reading_.file.close();
    restart_map();
  }
  if (!map_reading_.file.is_open() && !open_map()) return false;
  std::string end(map_reading_.end.size(), 0);
  if (map_reading_.file.read_some(map_reading_.at - end.size(), end) != end.size() ||
      end != map_reading_.end)
    restart_map();
  std::vector<char> text(256 << 10);
  uint64_t taken = 0;
  while (taken < kAtOnce && map_reading_.at < kMostOfMap) {
    const size_t count = map_reading_.file.read_some(map_reading_.at, text);
    if (count == 0) break;
    map_.take({text.data(), count});
    map_reading_.at += count;
    taken += count;
    const size_t kept = std::min(kEnd, count);
    map_reading_.end.assign(text.data() + count - kept, kept);
  }
  return taken > 0;
}

void JitWatch::find_dump() {
  const Clock::time_point now = Clock::now();
  if (now < times_.next_search) return;
  times_.next_search = now + times_.search_step;
  times_.search_step = std::min<Clock::duration>(2 * times_.search_step, kLongestSearchStep);
  const auto [path, inode] = mapped_dump(pid_);
  if (path.empty()) return;
  const GrowingFile::Found found = dump_reading_.file.open(pid_, path, begun_);
  dump_reading_.is_over = found == GrowingFile::Found::Refused ||
                          (dump_reading_.file.is_open() && dump_reading_.file.inode() != inode);
  const std::string why = found == GrowingFile::Found::Refused ? dump_reading_.file.why()
                                                               : "is not the file that is mapped";
  if (dump_reading_.is_over)
    tell(fmt::format("{} {}: the names of compiled code that may stand there are not used", path,
                     why),
         reported_.dump);
  dump_reading_.path = path;
}

bool JitWatch::look_at_dump() {
  if (dump_reading_.is_over) return false;
  if (!dump_reading_.file.is_open()) find_dump();
  if (!dump_reading_.file.is_open() || dump_reading_.is_over) return false;
  const bool took = dump_.take(
      [this](uint64_t at, std::span<uint8_t> bytes) { return dump_reading_.file.read(at, bytes); });
  dump_reading_.is_over = dump_.is_broken();
  if (dump_reading_.is_over)
    tell(fmt::format("{} is no dump of compiled code from byte {} on: what follows is not used",
                     dump_reading_.path, dump_.at()),
         reported_.dump);
  return took;
}

void JitWatch::report_limits() {
  if (map_.wrong_lines() > 0)
    tell(fmt::format("{} has lines that are not \"START SIZE name\", with numbers in hexadecimal: "
                     "they are left out",
                     map_reading_.path),
         reported_.lines);
  if (map_reading_.at >= kMostOfMap)
    tell(fmt::format("{}: what is behind its first {} MB is not read", map_reading_.path,
                     kMostOfMap >> 20),
         reported_.map);
  if (code_.is_full())
    tell(fmt::format("the program tells of more than {} functions that it has compiled: others "
                     "have no names",
                     JitCode::kMost),
         reported_.room);
}

void JitWatch::look() {
  const Clock::time_point begin = Clock::now();
  if (begin < times_.next_look) return;
  const bool from_map = look_at_map(), from_dump = look_at_dump();
  if ((from_map || from_dump)) report_limits();
  Clock::duration pause = kStep;
  if (shown_ != code_.changes()) {
    shown_ = code_.changes();
    const std::string& path = dump_reading_.path.empty() ? map_reading_.path : dump_reading_.path;
    if (!stacks_.name_made_code(code_.functions(), path, memory_))
      tell("there is no room for the names of all code that the program compiles: some have none",
           reported_.room);
    pause = std::max<Clock::duration>(kShortest, 20 * (Clock::now() - begin));
  }
  times_.next_look = Clock::now() + pause;
}

}  // namespace dj
