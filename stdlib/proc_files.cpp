// SPDX-License-Identifier: Apache-2.0
// Built-ins about the process that the kernel tells in /proc: command line, environment, parent.
#include "runtime/agent/ask.h"
#include "runtime/agent/scratch.h"
#include "runtime/agent/task.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

// A file of /proc, byte by byte.
class ProcFile {
 public:
  explicit ProcFile(const char* path)
      : file_(agent::ask_kernel(agent::kSysOpen, agent::word(path), kReadOnlyCloseOnExec)) {}
  // What one held when it was read.
  ProcFile(uint64_t text, uint64_t bytes)
      : file_(-1), filled_(static_cast<int64_t>(bytes)), from_(reinterpret_cast<char*>(text)) {}
  ~ProcFile() {
    if (file_ >= 0) agent::ask_kernel(agent::kSysClose, static_cast<uint64_t>(file_));
  }
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;
  // False: the end.
  bool next(char* c) {
    if (at_ == filled_) {
      if (file_ < 0) return false;
      filled_ = agent::ask_kernel(agent::kSysRead, static_cast<uint64_t>(file_),
                                  agent::word(bytes_), sizeof bytes_);
      at_ = 0;
      if (filled_ <= 0) {
        filled_ = 0;
        return false;
      }
    }
    *c = from_[at_++];
    return true;
  }

 private:
  static constexpr uint64_t kReadOnlyCloseOnExec = 02000000;
  int64_t file_, filled_ = 0, at_ = 0;
  char bytes_[256];
  const char* from_ = bytes_;
};

// The current process's.
ProcFile arguments() {
  const abi::Task* task = agent::told_task();
  return task != nullptr ? ProcFile(task->arguments, task->argument_bytes)
                         : ProcFile("/proc/self/cmdline");
}
ProcFile environment() {
  const abi::Task* task = agent::told_task();
  return task != nullptr ? ProcFile(task->environment, task->environment_bytes)
                         : ProcFile("/proc/self/environ");
}

// Text that grows up to MAXSTRINGLEN.
class Text {
 public:
  explicit Text(abi::Context* ctx) : ctx_(ctx), made_(agent::string_room(ctx)) {}
  void put(char c) {
    if (made_ == nullptr) return;
    cut_ = cut_ || used_ == agent::arena()->max_string;
    if (!cut_) made_->data[used_++] = c;
  }
  void put(const abi::Str* more) {
    const abi::Text text = abi::text_of(more);
    for (uint32_t i = 0; i < text.len; ++i) put(text.data[i]);
  }
  const abi::Str* finish() {
    if (cut_) agent::count_skip(abi::kSkipStringCut);
    if (used_ == 0) return agent::empty_string();
    made_->len = used_;
    return agent::keep_string(ctx_, made_);
  }

 private:
  abi::Context* ctx_;
  abi::Str* made_;
  uint32_t used_ = 0;
  bool cut_ = false;
};

}  // namespace

// Arguments first to last (last < first: all from first on), with `delimiter` between them.
const abi::Str* dj_cmdline_args(abi::Context* ctx, int64_t first, int64_t last,
                                const abi::Str* delimiter) {
  Text text(ctx);
  ProcFile file = arguments();
  int64_t argument = 0;
  bool begun = false;
  for (char c; file.next(&c);) {
    bool wanted = argument >= first && (last < first || argument <= last);
    if (wanted && !begun && argument > first) text.put(delimiter);
    begun = c != '\0';
    if (begun && wanted) text.put(c);
    if (!begun) ++argument;
  }
  return text.finish();
}

const abi::Str* dj_cmdline_arg(abi::Context* ctx, int64_t n) {
  return dj_cmdline_args(ctx, n, n, agent::empty_string());
}

const abi::Str* dj_cmdline_str(abi::Context* ctx) {
  static constexpr abi::Str kBlank = {1, {' '}};
  return dj_cmdline_args(ctx, 0, -1, &kBlank);
}

// As the program was started with it; "" when it is not set.
const abi::Str* dj_env_var(abi::Context* ctx, const abi::Str* variable) {
  const abi::Text name = abi::text_of(variable);
  Text text(ctx);
  ProcFile file = environment();
  uint32_t matched = 0;  // bytes of "NAME=" that agree; more: the value
  bool differs = false;
  for (char c; file.next(&c);) {
    if (c == '\0') {
      if (matched > name.len) break;
      matched = 0;
      differs = false;
    } else if (matched > name.len) {
      text.put(c);
    } else if (!differs) {
      differs = c != (matched == name.len ? '=' : name.data[matched]);
      matched += !differs;
    }
  }
  return text.finish();
}

namespace {

// A path below /proc, piece by piece; what does not fit is left out.
class ProcPath {
 public:
  ProcPath() { put("/proc/"); }
  void put(const char* text) {
    while (*text != '\0') put(*text++);
  }
  void put(char c) {
    if (used_ + 1 < sizeof path_) path_[used_++] = c;
  }
  void put(uint64_t number) {
    char digits[20];
    uint32_t count = 0;
    for (; count == 0 || number > 0; number /= 10)
      digits[count++] = static_cast<char>('0' + number % 10);
    while (count > 0) put(digits[--count]);
  }
  const char* text() const { return path_; }

 private:
  char path_[128] = {};
  uint32_t used_ = 0;
};

// /proc/PROCESS/NAME; of process 0 /proc/NAME.
ProcPath path_of(int64_t process, const abi::Str* name) {
  ProcPath path;
  if (process > 0) {
    path.put(static_cast<uint64_t>(process));
    path.put('/');
  }
  const abi::Text file = abi::text_of(name);
  for (uint32_t i = 0; i < file.len; ++i) path.put(file.data[i]);
  return path;
}

}  // namespace

const abi::Str* dj_pexecname(abi::Context* ctx) {
  ProcPath path;
  path.put(static_cast<uint64_t>(dj_ppid()));
  path.put("/comm");
  Text text(ctx);
  ProcFile file(path.text());
  for (char c; file.next(&c) && c != '\n';) text.put(c);
  return text.finish();
}

// How the file begins, no longer than a string may be; "" when it is not there. process 0: a file
// of /proc itself.
const abi::Str* dj_proc_text(abi::Context* ctx, int64_t process, const abi::Str* name) {
  Text text(ctx);
  ProcFile file(path_of(process, name).text());
  uint32_t room = agent::arena()->max_string;
  for (char c; room > 0 && file.next(&c); --room) text.put(c);
  return text.finish();
}
const abi::Str* dj_proc_line(abi::Context* ctx, int64_t process, const abi::Str* name,
                             const abi::Str* begin) {
  const abi::Text key = abi::text_of(begin);
  Text text(ctx);
  ProcFile file(path_of(process, name).text());
  uint32_t room = agent::arena()->max_string, matched = 0;
  bool wanted = true;  // the line began with as much of the key as was read
  for (char c; room > 0 && file.next(&c);) {
    if (c == '\n') {
      if (wanted && matched == key.len) break;
      wanted = true;
      matched = 0;
    } else if (wanted && matched == key.len) {
      text.put(c);
      --room;
    } else {
      wanted = wanted && c == key.data[matched++];
    }
  }
  return text.finish();
}
