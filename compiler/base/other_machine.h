// SPDX-License-Identifier: Apache-2.0
// Saying of an ELF file that it is another machine's.
#pragma once
#include <string>

namespace dj {

// head: the first 20 bytes of an ELF file that is not of 64 bits, or not for x86-64. who: the file,
// or the process that executes it.
std::string other_machine(const std::string& who, const unsigned char* head);

}  // namespace dj
