// SPDX-License-Identifier: Apache-2.0
// input.h says how an input probe gets its byte: the controller runs the probe for each byte that
// it reads from its standard input.
#pragma once
#include <stdint.h>

namespace dj::abi {

// SiteInfo::bias of an input probe is this with the byte below it, while it runs; no object is
// loaded there.
constexpr uint64_t kInputByte = 1ull << 63;

}  // namespace dj::abi
