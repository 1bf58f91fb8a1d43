// SPDX-License-Identifier: Apache-2.0
// md5(): the sum by which dpkg knows the files that it has installed. It tells a file from another
// one where nobody has an interest in a mistake, and protects from nobody.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace dj {

std::string md5(std::span<const uint8_t> bytes);  // hex, as md5sum prints it

}  // namespace dj
