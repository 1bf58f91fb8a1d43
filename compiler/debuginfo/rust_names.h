// Rust's symbols in both forms: "legacy", which is C++ mangling with a hash behind it, and "v0",
// Rust's own mangling (RFC 2603).
#pragma once
#include <string>
#include <string_view>

namespace dj {

// "r::Point::fmt" of
// "r::_$LT$impl$u20$core..fmt..Debug$u20$for$u20$r..Point$GT$::fmt::h0123456789abcdef", which the
// C++ demangler gives; a path of a trait's implementation becomes that of the type. Other texts
// stay as they are.
std::string without_rust_hash(std::string demangled);

// A symbol in the form "v0" begins with _R.
bool is_rust_v0(std::string_view symbol);
// "r::Point::fmt" of "_RNvXNtC1r...", which is <r::Point as core::fmt::Display>::fmt; generic
// arguments ("f::<i32>") are left out, as in the other form. Empty: no such symbol.
std::string demangle_rust_v0(std::string_view symbol);

}  // namespace dj
