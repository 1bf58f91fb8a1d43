// SPDX-License-Identifier: Apache-2.0
// HeldRecords holds records that Drain has copied out of the rings, until no earlier record can
// come.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/shared/event.h"

namespace dj {

// Record is a copy of one record: the target cannot change it any more. Its contents are still what
// the target has written.
struct Record {
  uint64_t tsc = 0;
  std::span<const uint8_t> bytes;  // begin with `header`
  abi::EventHeader header = {};

  // Copies the value at `offset`. False: it does not lie whole in the record.
  template <typename T>
  bool read(size_t offset, T& value) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
  }
  // Returns the bytes of a packed string; "" if they do not lie in the record.
  std::string_view text(uint64_t packed) const;
};

// RecordTexts reads the strings of a record, up to the record's length in total: in what handlers
// send, strings do not overlap. A string beyond that total is "".
class RecordTexts {
 public:
  explicit RecordTexts(const Record& record) : record_(record), left_(record.bytes.size()) {}
  // Returns the bytes of a packed string.
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
  // Copies the record that lies in a ring. size: its bytes, at least those of a header.
  Record copy(const abi::EventHeader* in_ring, uint32_t size);
  // Holds the record that copy() has copied last, with the time `tsc`.
  void hold(uint64_t tsc);
  // Forgets the record that copy() has copied last.
  void drop() { bytes_.resize(end_); }

  bool empty() const { return next_ == places_.size(); }
  size_t size() const { return places_.size() - next_; }
  // Whether the caller must hold no more: a record takes some memory besides its bytes.
  bool is_full() const { return size() >= kMost || end_ >= kMostBytes; }
  // Sorts all records by time; records of one time keep the order in which they came.
  void sort();
  // Returns the time of the earliest record. Call sort() before.
  uint64_t earliest() const { return places_[next_].tsc; }
  // Takes the earliest record out. It lives until the next call of copy() or forget_taken().
  Record take();
  // Frees the memory of the records that take() has given.
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
  size_t next_ = 0;  // index in places_ of the record that take() gives next
  size_t end_ = 0;   // index in bytes_ behind the last held record
};

}  // namespace dj
