// SPDX-License-Identifier: Apache-2.0
// HistogramText draws a histogram: one line a bucket, '@' bars of at most 50 columns, two empty
// buckets kept at either end, long empty stretches shown as '~', an empty line at the end: as
// SystemTap draws it. djtap draws what is printed, the agent what a script keeps as a string.
#pragma once
#include "runtime/shared/stat.h"

namespace dj::abi {

// HistogramBuckets: the buckets of one histogram that may be shown, in the order of their values.
class HistogramBuckets {
 public:
  // counts: hist_count(shape, form) words; shape is looked at for a linear one alone.
  HistogramBuckets(const int64_t* counts, const StatShape& shape, uint32_t form)
      : counts_(counts),
        shape_(shape),
        form_(form),
        bits_(form > kHistFine ? form - kHistFine : 0) {
    if (form == kHistLinear) {
      const int64_t above = shape.linear_count - 1;
      first_ = count(0) > 0 ? 0 : 1;
      end_ = count(above) > 0 ? above + 1 : above;
      return;
    }
    // Each side has as many, but for the least number of all.
    end_ = int64_t{64 - bits_} << bits_;
    for (int64_t i = -end_; i < 0 && first_ == 0; ++i) first_ = count(i) > 0 ? -end_ : 0;
  }
  int64_t first() const { return first_; }
  int64_t end() const { return end_; }

  int64_t count(int64_t i) const {
    if (form_ == kHistLinear) return counts_[i];
    if (form_ == kHistLog) return counts_[kLogZero + i];
    const uint64_t size = i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
    const bool is_least = size == static_cast<uint64_t>(end_);
    const uint32_t from = fine_step(low(size)), to = is_least ? from + 1 : fine_step(low(size + 1));
    uint64_t sum = 0;
    for (uint32_t step = from; step < to; ++step)
      sum += static_cast<uint64_t>(counts_[i < 0 ? kFineZero - step : kFineZero + step]);
    return static_cast<int64_t>(sum);
  }

  struct Label {
    char prefix;  // '<', '>', or NUL
    int64_t number;
  };
  Label label(int64_t i) const {
    if (form_ != kHistLinear) {
      const uint64_t size = low(i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i));
      return {'\0', static_cast<int64_t>(i < 0 ? 0 - size : size)};
    }
    if (i == 0) return {'<', shape_.linear_start};
    const bool is_above = i + 1 == shape_.linear_count;
    return {is_above ? '>' : '\0', value(is_above ? i - 2 : i - 1)};
  }

  // SystemTap leaves room for the value behind the last bucket that it shows.
  Label widest() const {
    if (form_ != kHistLinear) return {'\0', 0};
    int64_t last = 0;
    for (int64_t i = 0; i < shape_.linear_count; ++i) last = count(i) > 0 ? i : last;
    const int64_t above = shape_.linear_count - 1;
    last = last + 2 < above ? last + 2 : above;
    const bool is_above = last == above && count(above) > 0;
    if (last == above && !is_above) --last;
    return {is_above ? '>' : '\0', value(last)};
  }

 private:
  // The least size of the bucket: 2^bits buckets for each power of two.
  uint64_t low(uint64_t i) const {
    const uint64_t parts = uint64_t{1} << bits_;
    return i < parts ? i : (parts + (i & (parts - 1))) << ((i >> bits_) - 1);
  }
  int64_t value(int64_t steps) const {
    return static_cast<int64_t>(static_cast<uint64_t>(shape_.linear_start) +
                                static_cast<uint64_t>(shape_.linear_step) *
                                    static_cast<uint64_t>(steps));
  }

  const int64_t* counts_;
  const StatShape& shape_;
  uint32_t form_, bits_;
  int64_t first_ = 0, end_ = 0;
};

// Out: put(char), and end_line() behind each line feed.
template <typename Out>
class HistogramText {
 public:
  HistogramText(const HistogramBuckets& buckets, Out& out) : buckets_(buckets), out_(out) {}

  void draw() {
    measure();
    if (most_ <= 0) return;
    put_padded("value", 5, label_width_);
    put_text(" |");
    repeat('-', kBarWidth);
    put_text(" count");
    end_line();
    bool gap = false;
    for (int64_t i = first_; i <= last_; ++i) {
      const bool is_gap = !is_shown(i);
      if (!is_gap) put_bucket(i);
      if (is_gap && !gap) put_gap();
      gap = is_gap;
    }
    end_line();
  }

 private:
  static constexpr uint32_t kBarWidth = 50;
  static constexpr int64_t kKeptEmpty = 2;    // buckets shown before and behind a filled one
  static constexpr uint32_t kLabelWidth = 5;  // "value"
  static constexpr uint32_t kNumberBytes = 24;

  // Whether bucket i is nearer than kKeptEmpty to a filled one.
  bool is_shown(int64_t i) const {
    for (int64_t j = i - kKeptEmpty; j <= i + kKeptEmpty; ++j) {
      if (j >= buckets_.first() && j < buckets_.end() && buckets_.count(j) > 0) return true;
    }
    return false;
  }

  void measure() {
    char text[kNumberBytes];
    const auto widen = [&](HistogramBuckets::Label label) {
      const uint32_t width = spell(label, text);
      label_width_ = width > label_width_ ? width : label_width_;
    };
    widen(buckets_.widest());
    bool is_first = true;
    for (int64_t i = buckets_.first(); i < buckets_.end(); ++i) {
      most_ = buckets_.count(i) > most_ ? buckets_.count(i) : most_;
      if (!is_shown(i)) continue;
      first_ = is_first ? i : first_;
      is_first = false;
      last_ = i;
      widen(buckets_.label(i));
    }
    scale_ = most_ / kBarWidth + (most_ % kBarWidth != 0);
    count_width_ = spell({'\0', most_}, text);
  }

  void put_bucket(int64_t i) {
    char text[kNumberBytes];
    put_padded(text, spell(buckets_.label(i), text), label_width_);
    put_text(" |");
    const int64_t count = buckets_.count(i);
    const auto bar = static_cast<uint32_t>(count > 0 ? count / scale_ : 0);
    repeat('@', bar);
    repeat(' ', kBarWidth - bar + 1);
    put_padded(text, spell({'\0', count}, text), count_width_);
    end_line();
  }
  void put_gap() {
    repeat(' ', label_width_);
    put_text(" ~");
    end_line();
  }

  // Returns the length.
  static uint32_t spell(HistogramBuckets::Label label, char (&text)[kNumberBytes]) {
    char digits[kNumberBytes];
    uint32_t count = 0, length = 0;
    uint64_t rest = static_cast<uint64_t>(label.number);
    if (label.number < 0) rest = 0 - rest;
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
    } while ((rest /= 10) != 0);
    if (label.prefix != '\0') text[length++] = label.prefix;
    if (label.number < 0) text[length++] = '-';
    while (count > 0) text[length++] = digits[--count];
    return length;
  }
  void put_padded(const char* text, uint32_t length, uint32_t width) {
    repeat(' ', width > length ? width - length : 0);
    for (uint32_t i = 0; i < length; ++i) out_.put(text[i]);
  }
  void put_text(const char* text) {
    for (; *text != '\0'; ++text) out_.put(*text);
  }
  void repeat(char c, uint32_t times) {
    for (uint32_t i = 0; i < times; ++i) out_.put(c);
  }
  void end_line() {
    out_.put('\n');
    out_.end_line();
  }

  const HistogramBuckets& buckets_;
  Out& out_;
  int64_t most_ = 0, scale_ = 1, first_ = 0, last_ = -1;
  uint32_t label_width_ = kLabelWidth, count_width_ = 1;
};

}  // namespace dj::abi
