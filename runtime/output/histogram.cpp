// Histogram text. A Bucket list is made from either kind, then drawn by one function.
#include "runtime/output/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "runtime/shared/stat.h"

namespace dj {
namespace {

constexpr int kBarWidth = 50;
constexpr size_t kKeptEmpty = 2;   // empty buckets shown before and behind a filled one
constexpr size_t kLabelWidth = 5;  // "value"
constexpr size_t kLogZero = abi::kLogZero;
constexpr size_t kLogBits = 63;  // 2^62 begins the last bucket, -2^63 alone is in the first

struct Bucket {
  std::string label;
  int64_t count;
};

// Whether bucket i is nearer than kKeptEmpty to a filled one.
bool shown(const std::vector<Bucket>& buckets, size_t i) {
  size_t low = i < kKeptEmpty ? 0 : i - kKeptEmpty;
  size_t high = std::min(i + kKeptEmpty, buckets.size() - 1);
  for (size_t j = low; j <= high; ++j) {
    if (buckets[j].count > 0) return true;
  }
  return false;
}

// label_width: at least so wide.
std::string draw(const std::vector<Bucket>& buckets, size_t label_width) {
  int64_t most = 0;
  size_t first = buckets.size(), last = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    most = std::max(most, buckets[i].count);
    if (!shown(buckets, i)) continue;
    first = std::min(first, i);
    last = i;
    label_width = std::max(label_width, buckets[i].label.size());
  }
  if (most == 0) return "";
  const int64_t scale = most / kBarWidth + (most % kBarWidth != 0);
  size_t count_width = std::to_string(most).size();
  std::string text = fmt::format("{:>{}} |{:-<{}} count\n", "value", label_width, "", kBarWidth);
  bool gap = false;
  for (size_t i = first; i <= last; ++i) {
    if (!shown(buckets, i)) {
      if (!gap) text += fmt::format("{:>{}} ~\n", "", label_width);
      gap = true;
      continue;
    }
    gap = false;
    const int64_t bar = std::max<int64_t>(buckets[i].count, 0) / scale;
    text += fmt::format("{:>{}} |{:@<{}}{:>{}} {:>{}}\n", buckets[i].label, label_width, "", bar,
                        "", kBarWidth - bar, buckets[i].count, count_width);
  }
  return text + "\n";
}

// The value that log bucket i stands for: the power of two that it begins with.
std::string log_label(size_t i) {
  if (i == kLogZero) return "0";
  size_t bit = (i > kLogZero ? i - kLogZero : kLogZero - i) - 1;
  if (bit == kLogBits) return std::to_string(INT64_MIN);
  int64_t magnitude = int64_t{1} << bit;
  return std::to_string(i > kLogZero ? magnitude : -magnitude);
}

}  // namespace

std::string draw_log_histogram(std::span<const int64_t> counts) {
  std::vector<Bucket> buckets;
  // Negative buckets only where there are negative values.
  bool negative = std::any_of(counts.begin(), counts.begin() + kLogZero,
                              [](int64_t count) { return count > 0; });
  const size_t end = std::min(counts.size(), kLogZero + 1 + kLogBits);
  for (size_t i = negative ? kLogZero - 1 - kLogBits : kLogZero; i < end; ++i)
    buckets.push_back({log_label(i), counts[i]});
  return draw(buckets, kLabelWidth);
}

std::string draw_fine_histogram(std::span<const int64_t> counts, uint32_t bits) {
  std::vector<Bucket> buckets;
  const bool negative = std::any_of(counts.begin(), counts.begin() + abi::kFineZero,
                                    [](int64_t count) { return count > 0; });
  // Of the numbers of 64 bits only the least one has 2^63 in it.
  constexpr uint32_t kSide = abi::kFineSteps * (64 - abi::kFineStepBits);
  const uint32_t first = negative ? abi::kFineZero - kSide : abi::kFineZero;
  for (uint32_t i = first; i < abi::kFineZero + kSide; ++i) {
    const int64_t value = abi::fine_value(i);
    uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    const auto digits = static_cast<uint32_t>(std::bit_width(size));
    const uint32_t dropped = digits > bits + 1 ? digits - bits - 1 : 0;
    size = size >> dropped << dropped;
    std::string label = fmt::format("{}{}", value < 0 ? "-" : "", size);
    if (buckets.empty() || buckets.back().label != label) buckets.push_back({std::move(label), 0});
    buckets.back().count = static_cast<int64_t>(static_cast<uint64_t>(buckets.back().count) +
                                                static_cast<uint64_t>(counts[i]));
  }
  return draw(buckets, kLabelWidth);
}

std::string draw_linear_histogram(std::span<const int64_t> counts, const abi::StatShape& shape) {
  std::vector<Bucket> buckets;
  size_t last = 0;  // that has samples
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) last = i;
    int64_t from = shape.linear_start + (static_cast<int64_t>(i) - 1) * shape.linear_step;
    bool below = i == 0, above = i + 1 == counts.size();
    if ((below || above) && counts[i] == 0) continue;
    if (below) {
      buckets.push_back({fmt::format("<{}", shape.linear_start), counts[i]});
    } else if (above) {
      buckets.push_back({fmt::format(">{}", from - shape.linear_step), counts[i]});
    } else {
      buckets.push_back({std::to_string(from), counts[i]});
    }
  }
  // SystemTap leaves room for the value behind the last bucket that it shows.
  last = std::min(last + kKeptEmpty, counts.size() - 1);
  const bool above = last + 1 == counts.size() && counts[last] > 0;
  if (last + 1 == counts.size() && !above) --last;
  const int64_t behind = shape.linear_start + shape.linear_step * static_cast<int64_t>(last);
  return draw(buckets, std::max(kLabelWidth, std::to_string(behind).size() + (above ? 1 : 0)));
}

}  // namespace dj
