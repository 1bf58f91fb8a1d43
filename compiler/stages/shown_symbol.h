// SPDX-License-Identifier: Apache-2.0
// Symbols as lists and messages of a running session show them. compiler/debuginfo says how.
#pragma once
#include <string>
#include <string_view>

namespace dj {

// "ns::Klass::method+0x2d" of "_ZN2ns5Klass6methodEi+0x2d": C++, Rust and Fortran names as one
// writes them in a probe point (no parameters); all else stays as it is, suffixes like ".cold" and
// "@plt" too. Takes a symbol, with an offset behind it or without; cheap for symbols of C.
std::string shown_symbol(std::string_view symbol);

struct Site;
// What Fortran or Ada calls the function of the site, where its symbol does not say it:
// "shop.total" of shop__total. Empty: shown_symbol() knows the name, or nobody has asked debug
// information.
std::string_view foreign_name(const Site& site);

}  // namespace dj
