// SPDX-License-Identifier: Apache-2.0
// HeldRecords: records that were copied out of the rings and wait until no earlier one can come.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/shared/event.h"

namespace dj {

// One record, copied: the target cannot change it any more. What stands in it is still what the
// target has written.
struct Record {
  uint64_t tsc = 0;
  std::span<const uint8_t> bytes;  // begin with `header`
  abi::EventHeader header = {};

  // Copies what lies at `offset`. False: it does not lie in the record.
  template <typename T>
  bool read(size_t offset, T& value) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
  }
  // The bytes of a packed string; "" if they do not lie in the record.
  std::string_view text(uint64_t packed) const;
};

// RecordTexts: the strings of a record, which together are not longer than it: in what handlers
// send they do not overlap. What is too much is "".
class RecordTexts {
 public:
  explicit RecordTexts(const Record& record) : record_(record), left_(record.bytes.size()) {}
  std::string_view operator()(uint64_t packed) {
    const std::string_view text = record_.text(packed);
    if (text.size() > left_) return "";
    left_ -= text.size();
    return text;
  }

 private:
  const Record& record_;
  size_t left_;
};

class HeldRecords {
 public:
  // Copies the record of `size` bytes, at least a header's, that lies in a ring.
  Record copy(const abi::EventHeader* in_ring, uint32_t size);
  // Holds the record that was copied last, as one of this time.
  void hold(uint64_t tsc);
  // It is not wanted.
  void drop() { bytes_.resize(end_); }

  bool empty() const { return next_ == places_.size(); }
  size_t size() const { return places_.size() - next_; }
  // More are not to be held: some memory for each, and all of their bytes.
  bool is_full() const { return size() >= kMost || end_ >= kMostBytes; }
  // Puts all into the order of their times; those of one time stay as they came.
  void sort();
  // The time of the earliest, after sort().
  uint64_t earliest() const { return places_[next_].tsc; }
  // The earliest, which lives until the next call of copy() or forget_taken().
  Record take();
  // Gives back the memory of what has been taken.
  void forget_taken();

 private:
  static constexpr size_t kMost = 1 << 18, kMostBytes = 16 << 20;
  struct Place {
    uint64_t tsc;
    uint32_t offset, size;  // in bytes_
  };
  Record at(const Place& place) const;

  std::vector<uint8_t> bytes_;
  std::vector<Place> places_;
  size_t next_ = 0;  // of places_: to be taken next
  size_t end_ = 0;   // of bytes_, behind the last that is held
};

}  // namespace dj
