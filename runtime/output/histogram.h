// SPDX-License-Identifier: Apache-2.0
// draw_histogram() draws the histogram of an aggregate as text (runtime/shared/histogram_text.h).
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "runtime/shared/abi.h"

namespace dj {

// Returns the text; "" if all counts are 0. counts: abi::hist_count(shape, form) words of the
// aggregate; form: an abi::HistForm.
std::string draw_histogram(std::span<const int64_t> counts, const abi::StatShape& shape,
                           uint32_t form);

}  // namespace dj
