// SPDX-License-Identifier: Apache-2.0
// Rare: a value that few of many objects have: a std::optional that takes one word of those that
// have none.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dj {

template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Rare(Rare&& other) noexcept = default;
  Rare& operator=(Rare other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  T& emplace() { return *(value_ = std::make_unique<T>()); }
  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T* operator->() { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

// RareText: the same of a text that is mostly empty.
class RareText {
 public:
  RareText() = default;
  RareText& operator=(std::string text) {
    text_ = text.empty() ? Rare<std::string>() : Rare<std::string>(std::move(text));
    return *this;
  }
  bool empty() const { return !text_; }
  const std::string& str() const { return text_ ? *text_ : kEmpty; }
  operator const std::string&() const { return str(); }
  bool operator==(const RareText& other) const { return str() == other.str(); }
  bool operator==(std::string_view other) const { return str() == other; }

 private:
  static const std::string kEmpty;
  Rare<std::string> text_;
};
inline const std::string RareText::kEmpty;

}  // namespace dj
