// SPDX-License-Identifier: Apache-2.0
// Draws the histogram of an aggregate (runtime/shared/histogram_text.h).
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "runtime/shared/abi.h"

namespace dj {

// counts: abi::hist_count(shape, form) words of the aggregate; form: abi::HistForm. "" where all
// are empty.
std::string draw_histogram(std::span<const int64_t> counts, const abi::StatShape& shape,
                           uint32_t form);

}  // namespace dj
