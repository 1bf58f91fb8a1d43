// Demangling of C++ symbols, and splitting the result into the parts a person writes.
#pragma once
#include <string>
#include <string_view>

namespace dj {

// "ns::f<int>(int) const" of "_ZN2ns1fI..."; of Rust's "crate::module::f" without its hash. Empty:
// no such symbol.
std::string demangle(std::string_view symbol);
// Cheaper: may demangle() know it?
bool is_mangled(std::string_view symbol);

// The parts of a demangled function: "void ns::f<int>(int) const" is name "ns::f<int>" and
// parameters "(int)"; qualifiers are " const". The return type and clone remarks are dropped. What
// the compiler makes beside a function or variable keeps the words before its name: "virtual thunk
// to ns::A::f".
struct DemangledName {
  std::string name;
  std::string parameters;
  std::string qualifiers;
  bool beside = false;  // such words stand in the name: it is not what a person means by the rest
};
DemangledName split_demangled(std::string_view demangled);

// "ns::f" of "ns::f<int>"; operator< and operator<< keep theirs.
std::string without_templates(std::string_view name);

// Where the last component of a qualified name begins ("f" in "ns::A<x::y>::f").
size_t last_component(std::string_view name);

}  // namespace dj
