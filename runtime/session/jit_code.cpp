// SPDX-License-Identifier: Apache-2.0
// Parses what a program says of its code, and keeps what lies where.
#include "runtime/session/jit_code.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "compiler/base/printable.h"

namespace dj {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of one function
constexpr uint64_t kUserEnd = uint64_t{1} << 47;
constexpr size_t kLongestName = 1024;
constexpr size_t kLongestMapLine = kLongestName + 64;

// Takes a number in hexadecimal, and the blank behind it, off the text.
bool take_hex(std::string_view& text, uint64_t& number) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const auto length = static_cast<size_t>(end - text.data());
  if (error != std::errc() || length >= text.size() || text[length] != ' ') return false;
  text.remove_prefix(length + 1);
  return true;
}

template <typename Number>
Number number_at(std::string_view bytes, size_t at) {
  Number number = 0;
  if (at <= bytes.size() && bytes.size() - at >= sizeof number)
    std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// The format of jit-PID.dump (linux/tools/perf/Documentation/jitdump-specification.txt).
constexpr uint32_t kMagic = 0x4A695444;
enum : uint32_t { kLoad = 0, kMove = 1 };
constexpr size_t kLoadName = 56;  // behind the fixed part of a load

}  // namespace

void JitCode::remove(uint64_t begin, uint64_t end) {
  auto at = functions_.upper_bound(begin);
  if (at != functions_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != functions_.end() && at->first < end) at = functions_.erase(at);
}

bool JitCode::add(uint64_t begin, uint64_t size, std::string_view name) {
  if (name.empty() || begin == 0 || size > kMostBytes || begin > kUserEnd - size) return false;
  if (size == 0) return true;  // a stub that has no code of its own
  remove(begin, begin + size);
  changes_++;
  if (!is_full()) functions_[begin] = {begin + size, printable(name.substr(0, kLongestName))};
  return true;
}

void JitCode::move(uint64_t from, uint64_t to) {
  const auto old = functions_.find(from);
  if (old == functions_.end() || from == to) return;
  const JitFunction function = old->second;
  functions_.erase(old);
  add(to, function.end - from, function.name);
}

void PerfMap::take(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view piece = text.substr(0, end);
    if (rest_.size() + piece.size() > kLongestMapLine) {
      // What counts stands at its begin.
      rest_ += piece.substr(0, kLongestMapLine - std::min(rest_.size(), kLongestMapLine));
    } else {
      rest_ += piece;
    }
    if (end == std::string_view::npos) return;
    if (!rest_.empty()) take_line(rest_);
    rest_.clear();
    text.remove_prefix(end + 1);
  }
}

void PerfMap::take_line(std::string_view line) {
  uint64_t begin = 0, size = 0;
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool is_right =
      take_hex(line, begin) && take_hex(line, size) && code_.add(begin, size, line);
  if (!is_right) wrong_++;
}

uint64_t JitDump::bytes_of(std::span<const uint8_t> head) {
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  constexpr size_t kSizeOfFile = 8, kSizeOfRecord = 4;
  const bool is_file = at_ == 0;
  const auto size = number_at<uint32_t>(bytes, is_file ? kSizeOfFile : kSizeOfRecord);
  is_broken_ = size < head.size() || (is_file && number_at<uint32_t>(bytes, 0) != kMagic);
  return size;
}

size_t JitDump::body_bytes(uint64_t size) {
  return std::min<uint64_t>(size, kLoadName + kLongestName);
}

void JitDump::take_record(std::string_view body) {
  if (at_ == 0) return;
  const auto kind = number_at<uint32_t>(body, 0);
  constexpr size_t kAddress = 32, kSize = 40, kMoveFrom = 32, kMoveTo = 40;
  if (kind == kLoad && body.size() > kLoadName) {
    const std::string_view rest = body.substr(kLoadName);
    code_.add(number_at<uint64_t>(body, kAddress), number_at<uint64_t>(body, kSize),
              rest.substr(0, rest.find('\0')));
  } else if (kind == kMove) {
    code_.move(number_at<uint64_t>(body, kMoveFrom), number_at<uint64_t>(body, kMoveTo));
  }
}

}  // namespace dj
