// SPDX-License-Identifier: Apache-2.0
// Overload: a set of lambdas as one visitor, so that a missing alternative is a compile error.
#pragma once

namespace dj {

template <typename... Lambdas>
struct Overload : Lambdas... {
  using Lambdas::operator()...;
};
template <typename... Lambdas>
Overload(Lambdas...) -> Overload<Lambdas...>;

}  // namespace dj
