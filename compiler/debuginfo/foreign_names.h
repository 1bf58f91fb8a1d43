// SPDX-License-Identifier: Apache-2.0
// Foreign names: of Fortran's and Ada's functions, whose symbols look like C's. Only debug
// information says which language they are of.
#pragma once
#include <vector>

#include "compiler/debuginfo/symbols.h"

namespace dj {

// The file's debug information may describe such functions: among its functions are symbols that
// gfortran or GNAT may have made of other names, "outside_", "inner.0", "shop__total", "_ada_sale".
// C has such names, too. Debug information that lies in another file is not worth opening, unless
// the file calls the run-time library of these languages.
bool may_have_foreign(const ObjectFile& elf, const std::vector<Symbol>& functions);

}  // namespace dj
