// SPDX-License-Identifier: Apache-2.0
// What number and string literals mean.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace dj {

// Why a number literal is none.
enum class BadNumber : uint8_t { Malformed, TooLarge };

// Decimal, 0x hexadecimal, 0 octal. Values of 2^63 and more wrap to negative ones, of 2^64 and more
// are too large.
std::variant<uint64_t, BadNumber> read_number(std::string_view text);

// The text that a string literal, quotes included, stands for. Escapes are those of C; a backslash
// before any other character is dropped.
std::string decode_string(std::string_view literal);

}  // namespace dj
