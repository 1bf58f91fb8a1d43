// SPDX-License-Identifier: Apache-2.0
// target_text.h defines the format of dj_target_text(): bytes as they are, "%%", and '%' with one
// of these letters for the next word. A word that was not readable prints "?".
#pragma once

namespace dj::abi {

constexpr char kTextSigned = 'd', kTextUnsigned = 'u', kTextHex = 'x';
constexpr char kTextChar = 'c';    // 'c'
constexpr char kTextString = 's';  // "abc": address of a text that ends with a NUL
// address and, as a second word, bytes. Followed by 'n': exactly so many; 'z': up to a NUL.
constexpr char kTextBytes = 'b';
// Numbers of 128 bits, signed and not: the low word, and the high one as a second.
constexpr char kTextWide = 'i', kTextWideUnsigned = 'I';
constexpr char kTextFloat = 'f', kTextDouble = 'g';  // bits
// Followed by "number=word;" pairs and "%;": the word of this number, else the number.
constexpr char kTextWord = 'w';
// Followed by "words,bytes;": where the word is 0 or was not readable, so many words and so many
// bytes of the format are passed over.
constexpr char kTextIf = '?';

}  // namespace dj::abi
