// SPDX-License-Identifier: Apache-2.0
// ShortVector: a vector of at most N elements that lie in the object itself. For what there are ten
// thousands of: no block of the heap for each.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "compiler/base/result.h"

namespace dj {

template <typename T, size_t N>
class ShortVector {
 public:
  ShortVector() = default;
  ShortVector(std::initializer_list<T> items) { append(items); }
  explicit ShortVector(std::span<const T> items) { append(items); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  T* data() { return items_.data(); }
  const T* data() const { return items_.data(); }
  bool operator==(const ShortVector& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }

  void push_back(const T& item) {
    CHECK(size_ < N);
    items_[size_++] = item;
  }
  void append(std::span<const T> items) {
    CHECK(items.size() <= N - size_);
    std::copy(items.begin(), items.end(), items_.begin() + size_);
    size_ += items.size();
  }
  void resize(size_t size) {
    CHECK(size <= N);
    while (size_ < size) items_[size_++] = T();
    size_ = size;
  }

 private:
  std::array<T, N> items_;
  size_t size_ = 0;
};

}  // namespace dj
