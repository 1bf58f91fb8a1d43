// SPDX-License-Identifier: Apache-2.0
// Rust's symbols in both forms: "legacy", which is C++ mangling with a hash behind it, and "v0",
// Rust's own mangling (RFC 2603).
#pragma once
#include <string>
#include <string_view>

namespace dj {

// It ends like "::h0123456789abcdef".
bool has_rust_hash(std::string_view demangled);
// "r::Point::fmt" of
// "r::_$LT$impl$u20$core..fmt..Debug$u20$for$u20$r..Point$GT$::fmt::h0123456789abcdef", which the
// C++ demangler gives; a path of a trait's implementation becomes that of the type. Other texts
// stay as they are.
std::string without_rust_hash(std::string demangled);

// A symbol in the form "v0" begins with _R.
bool is_rust_v0(std::string_view symbol);
// "r::Point<i32>::fmt" of "_RNvXNtC1r...", which is <r::Point<i32> as core::fmt::Display>::fmt, and
// "r::f<i32>" of r::f::<i32>. Empty: no such symbol.
std::string demangle_rust_v0(std::string_view symbol);
// "f<i32>" of "f::<i32>", as debug information has it.
std::string with_short_arguments(std::string text);

}  // namespace dj
