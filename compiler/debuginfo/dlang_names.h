// SPDX-License-Identifier: Apache-2.0
// D's symbols, as the D ABI mangles them.
#pragma once
#include <string_view>

#include "compiler/debuginfo/demangle.h"

namespace dj {

// A symbol of a D module's function or variable begins with _D and a number.
bool is_dlang(std::string_view symbol);
// "app.main.max!(int)" and "(int[])" of "_D3app4main__T3maxTiZQhFAiZi", with `dotted`; no name: no
// such symbol. Constructors are called "this", destructors "~this".
DemangledName split_dlang(std::string_view symbol);
// The components of a name with dots: "app", "main", "max!(int)"; also where the template and its
// function both stand in it, "app.main.max!(int).max".
std::vector<std::string> dlang_components(std::string_view name);
// "app.main.max" of "app.main.max!(int).max".
std::string without_instances(std::string_view name);
// Types of a parameter list by the aliases of the language: "string" for immutable(char)[].
std::string dlang_spelling(std::string_view parameters);

}  // namespace dj
