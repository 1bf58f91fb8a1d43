// SPDX-License-Identifier: Apache-2.0
// Numbers of up to 16 bytes, what handlers call for locations that compute them.
#include "runtime/shared/wide_number.h"
#include "stdlib/entries.h"

using namespace dj;
using abi::NumberForm;
using abi::Wide;

Wide dj_convert_number(uint32_t from, uint32_t to, Wide bits) {
  return abi::convert_number(static_cast<NumberForm>(from), static_cast<NumberForm>(to), bits);
}

Wide dj_wide_compute(uint32_t form, uint32_t op, Wide a, Wide b) {
  return abi::wide_compute(static_cast<NumberForm>(form), static_cast<abi::WideOp>(op), a, b);
}

int32_t dj_wide_compare(uint32_t form, Wide a, Wide b) {
  return abi::wide_compare(static_cast<NumberForm>(form), a, b);
}
