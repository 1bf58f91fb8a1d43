// SPDX-License-Identifier: Apache-2.0
// btf_type_name() writes a type of BTF as a person does. Only for this room.
#pragma once
#include <bpf/btf.h>

#include <cstdint>
#include <string>

namespace dj {

// Returns "const char*", "struct point", "int[4]", "int (*)(char)". The rules are those of DWARF's
// types (type_name() of compiler/debuginfo/types.h), so that a listing looks the same whatever
// djtap has read. Number 0 is "void"; "?" stands for what is no type, or is nested too deep.
std::string btf_type_name(const btf* types, uint32_t number);

}  // namespace dj
