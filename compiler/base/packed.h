// SPDX-License-Identifier: Apache-2.0
// Records as bytes, for files that are used where they are mapped: each run of records begins at a
// multiple of eight bytes, behind its count.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace dj {

// Appends records as they lie in memory, at a multiple of eight bytes.
template <typename T>
void put_records(std::string& out, std::span<const T> records) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= sizeof(uint64_t));
  const uint64_t count = records.size();
  out.append(reinterpret_cast<const char*>(&count), sizeof count);
  out.append(reinterpret_cast<const char*>(records.data()), records.size_bytes());
  out.append(-out.size() % sizeof count, '\0');
}

// All of these runs, in memory taken once.
template <typename... Runs>
std::string all_records(const Runs&... runs) {
  std::string out;
  out.reserve((0 + ... + (2 * sizeof(uint64_t) + std::size(runs) * sizeof(*std::data(runs)))));
  (put_records(out, std::span<const std::remove_cvref_t<decltype(*std::data(runs))>>(runs)), ...);
  return out;
}

// Takes what put_records() has appended off the front of `bytes`; false: it is not there. They stay
// where they lie.
template <typename T>
bool take_records(std::span<const char>& bytes, std::span<const T>& records) {
  uint64_t count = 0;
  if (bytes.size() < sizeof count) return false;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes = bytes.subspan(sizeof count);
  if (count > bytes.size() / sizeof(T)) return false;
  const uint64_t padded = (count * sizeof(T) + 7) / 8 * 8;
  if (padded > bytes.size()) return false;
  records = {reinterpret_cast<const T*>(bytes.data()), count};
  bytes = bytes.subspan(padded);
  return true;
}

// A text among many: its place in their characters.
struct PackedText {
  uint32_t at = 0, bytes = 0;
};

// Texts one behind the other, to be put as records, or to need no block of the heap each.
class TextPacker {
 public:
  void reserve(size_t bytes) { all_.reserve(bytes); }
  PackedText add(std::string_view text) {
    const PackedText place{static_cast<uint32_t>(all_.size()), static_cast<uint32_t>(text.size())};
    all_.append(text);
    return place;
  }
  std::string_view text(PackedText place) const {
    return std::string_view(all_).substr(place.at, place.bytes);
  }
  std::span<const char> all() const { return all_; }

 private:
  std::string all_;
};

// Empty, and *whole false, when it does not lie among `all`.
inline std::string_view text_of(std::span<const char> all, PackedText place, bool* whole) {
  const bool inside = place.at <= all.size() && place.bytes <= all.size() - place.at;
  *whole = *whole && inside;
  return inside ? std::string_view(all.data() + place.at, place.bytes) : std::string_view();
}

}  // namespace dj
