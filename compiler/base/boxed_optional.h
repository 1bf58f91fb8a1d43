// SPDX-License-Identifier: Apache-2.0
// BoxedOptional: a value that few of many objects have: a std::optional that takes one word of
// those that have none.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dj {

template <typename T>
class BoxedOptional {
 public:
  BoxedOptional() = default;
  BoxedOptional(T value) : value_(std::make_unique<T>(std::move(value))) {}
  BoxedOptional(const BoxedOptional& other)
      : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  BoxedOptional(BoxedOptional&& other) noexcept = default;
  BoxedOptional& operator=(BoxedOptional other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  T& emplace() { return *(value_ = std::make_unique<T>()); }
  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T* operator->() { return value_.get(); }
  bool operator==(const BoxedOptional& other) const {
    return value_ && other.value_ ? *value_ == *other.value_ : !value_ && !other.value_;
  }

 private:
  std::unique_ptr<T> value_;
};

// BoxedText: the same of a text that is mostly empty.
class BoxedText {
 public:
  BoxedText() = default;
  BoxedText& operator=(std::string text) {
    text_ =
        text.empty() ? BoxedOptional<std::string>() : BoxedOptional<std::string>(std::move(text));
    return *this;
  }
  bool empty() const { return !text_; }
  const std::string& str() const { return text_ ? *text_ : kEmpty; }
  operator const std::string&() const { return str(); }
  bool operator==(const BoxedText& other) const { return str() == other.str(); }
  bool operator==(std::string_view other) const { return str() == other; }

 private:
  static const std::string kEmpty;
  BoxedOptional<std::string> text_;
};
inline const std::string BoxedText::kEmpty;

}  // namespace dj
