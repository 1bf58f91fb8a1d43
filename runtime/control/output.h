// Output: where the script's text goes: stdout, or the file of -o. Owns the descriptor it opened.
#pragma once
#include <string>
#include <string_view>

#include "compiler/result.h"

namespace dj {

class Output {
 public:
  // path empty: stdout. An existing file is truncated.
  static Result<Output> open(const std::string& path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();  // flush()

  void write(std::string_view text) { buffer_ += text; }
  void flush();
  // A write failed (EPIPE, ENOSPC ...): nothing is written any more; error() says why.
  bool closed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  Output(int fd, bool owned) : fd_(fd), owned_(owned) {}
  int fd_;
  bool owned_;
  std::string buffer_, error_;
};

}  // namespace dj
