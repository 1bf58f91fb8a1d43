// SPDX-License-Identifier: Apache-2.0
// GNAT's symbols for what Ada calls otherwise.
#pragma once
#include <string>
#include <string_view>

namespace dj {

// "shop.inner.total" of shop__inner__total__2, and shop."+" of shop__Oadd, as gdb shows them.
// Empty: no such symbol.
std::string ada_name(std::string_view symbol);

}  // namespace dj
