// Rust's symbols in the form that rustc makes by default ("legacy"): C++ mangling with a hash
// behind it.
#pragma once
#include <string>

namespace dj {

// "r::Point::fmt" of
// "r::_$LT$impl$u20$core..fmt..Debug$u20$for$u20$r..Point$GT$::fmt::h0123456789abcdef", which the
// C++ demangler gives; a path of a trait's implementation becomes that of the type. Other texts
// stay as they are.
std::string without_rust_hash(std::string demangled);

}  // namespace dj
