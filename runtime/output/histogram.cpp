// SPDX-License-Identifier: Apache-2.0
// The text is made by what the agent makes it with, too.
#include "runtime/output/histogram.h"

#include "runtime/shared/histogram_text.h"

namespace dj {

std::string draw_histogram(std::span<const int64_t> counts, const abi::StatShape& shape,
                           uint32_t form) {
  struct {
    std::string text;
    void put(char c) { text += c; }
    void end_line() {}
  } out;
  const abi::HistogramBuckets buckets(counts.data(), shape, form);
  abi::HistogramText(buckets, out).draw();
  return out.text;
}

}  // namespace dj
