// SPDX-License-Identifier: Apache-2.0
// Parses /proc/PID: maps, status, stat, task.
#include "runtime/process/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "compiler/base/other_machine.h"
#include "runtime/process/call_list.h"
#include "runtime/process/os_error.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

// Behind the names of files that were removed (proc(5)).
constexpr std::string_view kDeleted = " (deleted)";

std::string proc_path(pid_t pid, const std::string& rest) {
  return "/proc/" + (pid == 0 ? std::string("self") : std::to_string(pid)) + rest;
}

constexpr uint64_t kSecondNs = 1'000'000'000;

// A process can have 65,530 mappings with paths of 4 kB.
constexpr size_t kMostBytes = 32 << 20;

Result<std::string> read_proc(pid_t pid, const char* rest) {
  const std::string path = proc_path(pid, rest);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  for (ssize_t got = file; got >= 0 && text.size() <= kMostBytes;) {
    constexpr size_t kPart = 4096;
    const size_t before = text.size(), more = std::max(kPart, before);
    text.resize(before + more);
    got = read(file, &text[before], more);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  const int failed = errno;
  if (file >= 0) close(file);
  if (text.size() > kMostBytes)
    return Error{path + " is larger than djtap reads it", Fail::Unsupported};
  if (!text.empty()) return text;
  if (access(proc_path(pid, "").c_str(), F_OK) != 0)
    return Error{"there is no process " + std::to_string(pid), Fail::NotFound};
  return os_error("cannot read " + path, failed != 0 ? failed : EACCES);
}

Error no_memory(pid_t pid) {
  return {"process " + std::to_string(pid) + " has no memory (it has ended, or is a kernel thread)",
          Fail::TargetGone};
}

// Why its mappings cannot be read.
Error no_maps(pid_t pid, int number) {
  if (access(proc_path(pid, "").c_str(), F_OK) != 0)
    return Error{"there is no process " + std::to_string(pid), Fail::NotFound};
  return os_error("cannot read " + proc_path(pid, "/maps"), number);
}

Result<std::string> read_maps_text(pid_t pid) {
  if (pid == 0) return read_proc(pid, "/maps");
  std::string text;
  if (read_process_file(pid, ProcessFile::Maps, text)) return text;
  return no_maps(pid, errno);
}

// Whether it has mappings that can be read, of which there may be thousands.
Status check_memory(pid_t pid) {
  const pid_t tid = living_thread(pid);
  const int fd = open_process_file(tid, ProcessFile::Maps);
  char first = 0;
  const ssize_t got = fd < 0 ? -1 : read(fd, &first, sizeof first);
  const int number = errno;
  if (fd >= 0) close(fd);
  if (got < 0) return no_maps(tid, number);
  return got == 0 ? Status(no_memory(pid)) : ok_status();
}

// The fields of /proc/PID/stat (proc(5)), number 1 at [0]; empty: there is no such process. The
// name (number 2) may hold anything and is left empty: fields are counted behind its closing
// parenthesis.
std::vector<std::string> stat_fields(pid_t pid) {
  const Result<std::string> text = read_proc(pid, "/stat");
  const size_t name_end = text.ok() ? text.value().rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return {};  // it ended while we read
  std::vector<std::string> fields = {std::to_string(pid), ""};
  std::string_view rest = std::string_view(text.value()).substr(name_end + 1);
  for (size_t begin; (begin = rest.find_first_not_of(" \n")) != rest.npos;) {
    rest.remove_prefix(begin);
    fields.emplace_back(rest.substr(0, rest.find_first_of(" \n")));
    rest.remove_prefix(fields.back().size());
  }
  return fields;
}

// PF_KTHREAD and PF_EXITING of linux/sched.h, in field 9 of /proc/PID/stat.
constexpr uint64_t kKernelThread = 0x00200000, kExiting = 4;

// Takes a number of that base off the front of `text`, and the character behind it.
bool take_number(std::string_view& text, int base, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const auto used = static_cast<size_t>(end - text.data());
  if (error != std::errc() || used == text.size()) return false;
  text.remove_prefix(used + 1);
  return true;
}

// One line: "begin-end rwxp offset major:minor inode   path".
bool parse_mapping(std::string_view line, Mapping& m) {
  constexpr int kHex = 16, kDecimal = 10;
  constexpr size_t kFlags = 5;  // with the space behind
  uint64_t major = 0, minor = 0;
  if (!take_number(line, kHex, m.begin) || !take_number(line, kHex, m.end) ||
      line.size() < kFlags) {
    return false;
  }
  m.read = line[0] == 'r';
  m.write = line[1] == 'w';
  m.exec = line[2] == 'x';
  m.shared = line[3] == 's';
  line.remove_prefix(kFlags);
  if (!take_number(line, kHex, m.offset) || !take_number(line, kHex, major) ||
      !take_number(line, kHex, minor) || !take_number(line, kDecimal, m.inode)) {
    return false;
  }
  m.device = makedev(major, minor);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  set_path(m, line);
  return true;
}

}  // namespace

std::string program_path(pid_t pid) {
  std::error_code error;
  std::string path =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

void set_path(Mapping& m, std::string_view shown) {
  m.deleted = m.inode != 0 && shown.ends_with(kDeleted);
  if (m.deleted) shown.remove_suffix(kDeleted.size());
  m.path = shown;
}

std::vector<Mapping> parse_maps(const std::string& text) {
  std::vector<Mapping> maps;
  maps.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')));
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = std::min(rest.find('\n'), rest.size() - 1) + 1;
    Mapping m;
    if (parse_mapping(rest.substr(0, bytes - (rest[bytes - 1] == '\n' ? 1 : 0)), m)) {
      maps.push_back(std::move(m));
    }
    rest.remove_prefix(bytes);
  }
  return maps;
}

// The first thread may have ended before the process: then it has no mappings.
Result<std::vector<Mapping>> read_maps(pid_t pid) {
  Result<std::string> text = read_maps_text(pid);
  const bool has_some = text.ok() && !text.value().empty();
  const pid_t tid = has_some ? pid : living_thread(pid);
  if (tid != pid) text = read_maps_text(tid);
  if (!text.ok()) return text.error();
  std::vector<Mapping> maps = parse_maps(text.value());
  if (maps.empty()) return no_memory(pid);
  return maps;
}

namespace {

using Text = std::string_view;

template <typename Number>
void take_field(Text text, Number& number) {
  std::from_chars(text.data(), text.data() + text.size(), number);
}

const std::map<Text, void (*)(Text, ProcessStatus&)> kStatusFields = {
    {"Name", [](Text text, ProcessStatus& status) { status.name = text; }},
    {"State", [](Text text, ProcessStatus& status) { status.state = text.front(); }},
    {"PPid", [](Text text, ProcessStatus& status) { take_field(text, status.parent); }},
    {"TracerPid", [](Text text, ProcessStatus& status) { take_field(text, status.tracer); }},
    {"Uid", [](Text text, ProcessStatus& status) { take_field(text, status.uid); }},
    {"VmSize", [](Text text, ProcessStatus& status) { take_field(text, status.size_kb); }},
    {"VmData", [](Text text, ProcessStatus& status) { take_field(text, status.data_kb); }},
    {"VmLib", [](Text text, ProcessStatus& status) { take_field(text, status.code_kb); }},
    {"VmLck", [](Text text, ProcessStatus& status) { take_field(text, status.locked_kb); }},
};

// One line: "Name:<tab or spaces>text".
void take_status_line(Text line, ProcessStatus& status) {
  const auto found = kStatusFields.find(line.substr(0, line.find(':')));
  if (found == kStatusFields.end()) return;
  const size_t begin = line.find_first_not_of(" \t", found->first.size() + 1);
  if (begin != Text::npos) found->second(line.substr(begin), status);
}

}  // namespace

Result<ProcessStatus> read_status(pid_t pid) {
  DJ_TRY(const std::string text, read_proc(pid, "/status"));
  ProcessStatus status;
  for (Text rest = text; !rest.empty();) {
    const size_t bytes = std::min(rest.find('\n'), rest.size() - 1);
    take_status_line(rest.substr(0, bytes), status);
    rest.remove_prefix(bytes + 1);
  }
  const std::vector<std::string> fields = stat_fields(pid);
  if (fields.size() > 8) status.is_kernels = (std::stoull(fields[8]) & kKernelThread) != 0;
  return status;
}

bool is_traced_by_djtap(pid_t tid) {
  const Result<ProcessStatus> status = read_status(tid);
  return status.ok() && status.value().tracer == getpid();
}

bool is_ending(pid_t tid) {
  const std::vector<std::string> fields = stat_fields(tid);
  if (fields.size() < 9 || fields[2] == "Z" || fields[2] == "X") return true;
  return (std::stoull(fields[8]) & kExiting) != 0;
}

std::optional<uint64_t> start_time(pid_t pid) {
  const std::vector<std::string> fields = stat_fields(pid);
  if (fields.size() < 22) return std::nullopt;
  const bool ended = fields[2] == "Z" || fields[2] == "X";
  if (ended && live_threads(pid).empty()) return std::nullopt;
  return std::stoull(fields[21]);
}

std::optional<double> seconds_since_start(pid_t pid) {
  const std::optional<uint64_t> ticks = start_time(pid);
  timespec up = {};
  if (!ticks || clock_gettime(CLOCK_BOOTTIME, &up) != 0) return std::nullopt;
  const double start = static_cast<double>(*ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return static_cast<double>(up.tv_sec) + static_cast<double>(up.tv_nsec) / 1e9 - start;
}

namespace {

// Whether the process runs a program that djtap knows how to change. Nothing of it is touched.
Status check_program(pid_t pid, const ProcessStatus& status, const std::string& who) {
  if (status.is_kernels)
    return Error{who + " is a thread of the kernel: it runs no program", Fail::Unsupported};
  const int file = open_process_file(pid, ProcessFile::Program);
  unsigned char head[20] = {};
  const ssize_t got = file < 0 ? 0 : read(file, head, sizeof head);
  if (file >= 0) close(file);
  if (got != sizeof head) return ok_status();  // told below
  constexpr int kClass = 4, kMachine = 18, kClass64 = 2, kMachineX86 = 62;
  if (head[kClass] != kClass64 || head[kMachine] != kMachineX86)
    return Error{other_machine(who, head), Fail::Unsupported};
  return ok_status();
}

// Of a thread that lives, if there is one: who was chosen may have ended by the time it is looked
// at.
Result<ProcessStatus> read_living_status(pid_t pid) {
  for (pid_t tid = living_thread(pid);;) {
    Result<ProcessStatus> status = read_status(tid);
    const bool ended = !status.ok() || status.value().state == 'Z' || status.value().state == 'X';
    const pid_t other = ended ? living_thread(pid) : tid;
    if (other == tid) return status;
    tid = other;
  }
}

}  // namespace

Status check_traceable(pid_t pid) {
  DJ_TRY(ProcessStatus status, read_living_status(pid));
  std::string who = "process " + std::to_string(pid) + " (" + status.name + ")";
  if (status.state == 'Z' || status.state == 'X') {
    return Error{who + " has already ended and waits for its parent (zombie)", Fail::TargetGone};
  }
  if (pid == getpid()) {
    return Error{"djtap cannot trace itself", Fail::Permission};
  }
  if (status.tracer != 0) {
    return Error{who + " is already traced by process " + std::to_string(status.tracer) +
                     "; end that debugger or tracer first",
                 Fail::Permission};
  }
  if (geteuid() != 0 && status.uid != geteuid()) {
    return Error{who + " belongs to user " + std::to_string(status.uid) + ", djtap runs as user " +
                     std::to_string(geteuid()),
                 Fail::Permission};
  }
  DJ_TRY_DO(check_program(pid, status, who));
  Status memory = check_memory(pid);
  if (!memory.ok() && memory.error().kind == Fail::Permission) {
    return Error{
        who + " may not be traced: it is setuid, or has made itself not dumpable (PR_SET_DUMPABLE)",
        Fail::Permission};
  }
  return memory;
}

uint64_t processor_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec used = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<uint64_t>(used.tv_sec) * kSecondNs + static_cast<uint64_t>(used.tv_nsec);
}

// Fields 16 and 17.
uint64_t ended_children_ns(pid_t pid) {
  const std::vector<std::string> fields = stat_fields(pid);
  if (fields.size() < 17) return 0;
  const uint64_t ticks = std::stoull(fields[15]) + std::stoull(fields[16]);
  return ticks * (kSecondNs / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
}

std::vector<pid_t> live_threads(pid_t pid) {
  std::vector<pid_t> threads;
  DIR* dir = opendir(proc_path(pid, "/task").c_str());
  if (dir == nullptr) {
    return threads;
  }
  while (dirent* entry = readdir(dir)) {
    pid_t tid = atoi(entry->d_name);
    if (tid <= 0) {
      continue;
    }
    Result<std::string> stat_text =
        read_proc(pid, ("/task/" + std::to_string(tid) + "/stat").c_str());
    if (!stat_text.ok()) {
      continue;
    }
    size_t name_end = stat_text.value().rfind(')');
    char state = name_end + 2 < stat_text.value().size() ? stat_text.value()[name_end + 2] : 'X';
    if (state != 'Z' && state != 'X') {
      threads.push_back(tid);
    }
  }
  closedir(dir);
  std::sort(threads.begin(), threads.end());
  return threads;
}

pid_t living_thread(pid_t pid) {
  Result<std::string> text = read_proc(pid, "/stat");
  const size_t name_end = text.ok() ? text.value().rfind(')') : std::string::npos;
  if (name_end == std::string::npos || text.value().compare(name_end, 3, ") Z") != 0) {
    return pid;
  }
  std::vector<pid_t> threads = live_threads(pid);
  return threads.empty() ? pid : threads.front();
}

AuxiliaryVector::AuxiliaryVector(pid_t pid) {
  std::string text;
  if (!read_process_file(pid, ProcessFile::Auxiliary, text)) return;
  entries_.resize(text.size() / sizeof(Entry));
  memcpy(entries_.data(), text.data(), entries_.size() * sizeof(Entry));
}

uint64_t AuxiliaryVector::operator[](uint64_t key) const {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  return found != entries_.end() ? found->value : 0;
}

uint64_t auxiliary(pid_t pid, uint64_t key) { return AuxiliaryVector(pid)[key]; }

uint64_t heap_begin(pid_t pid) {
  constexpr size_t kStartBrk = 46;
  const std::vector<std::string> fields = stat_fields(pid);
  return fields.size() > kStartBrk ? std::stoull(fields[kStartBrk]) : 0;
}

}  // namespace dj
