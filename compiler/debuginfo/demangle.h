// SPDX-License-Identifier: Apache-2.0
// Demangling of C++ symbols, and splitting the result into the parts a person writes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dj {

// "ns::f<int>(int) const" of "_ZN2ns1fI...", as the C++ ABI's demangler has it. ABI tags
// ("[abi:cxx11]") stay. Empty: no such symbol.
std::string demangle(std::string_view symbol);
// The name without its ABI tags, which people leave out.
std::string without_tags(std::string name);
// Cheaper: may split_symbol() know it?
bool is_mangled(std::string_view symbol);

// A procedure of a Fortran module, as gfortran calls it; a function of Rust.
bool is_fortran(std::string_view symbol);
bool is_rust(std::string_view symbol);

// The parts of a demangled function: "void ns::f<int>(int) const" is name "ns::f<int>" and
// parameters "(int)"; qualifiers are " const". The return type and clone remarks are dropped. What
// the compiler makes beside a function or variable keeps the words before its name: "virtual thunk
// to ns::A::f".
struct DemangledName {
  std::string name;
  std::string parameters;
  std::string qualifiers;
  bool beside = false;  // such words stand in the name: it is not what a person means by the rest
  bool dotted = false;  // components are separated by dots, as in D, not by "::"
};
DemangledName split_demangled(std::string_view demangled);

// The parts of a symbol's name in its language: C++, Rust, Fortran (module::procedure) or D. Rust's
// hash and D's doubled names of templates are left out. No name: no such symbol.
DemangledName split_symbol(std::string_view symbol);

// "ns::f" of "ns::f<int>"; operator< and operator<< keep theirs.
std::string without_templates(std::string_view name);

// Where the last component of a qualified name begins ("f" in "ns::A<x::y>::f").
size_t last_component(std::string_view name);
// All of them: "ns", "A<x::y>", "f".
std::vector<std::string_view> components(std::string_view name);

// A character of a name in the source; also one of several bytes.
bool is_identifier(char c);
// The length of an operator's name at `at` ("operator<<"), or 0 when no operator begins there.
size_t operator_length(std::string_view text, size_t at);

}  // namespace dj
