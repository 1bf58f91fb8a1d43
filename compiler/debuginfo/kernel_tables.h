// SPDX-License-Identifier: Apache-2.0
// add_kernel_tables() reads the tables of a Linux kernel that name instructions of its text.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "arch/x86_64/text.h"
#include "compiler/debuginfo/object_file.h"

namespace dj {

// Whether a kernel's function of that name does nothing but return. The kernel makes a jump to it
// of each return where the processor needs that (__x86_return_thunk, srso_return_thunk, ...).
bool is_return_thunk(std::string_view name);

// Adds to `text` what the tables of a kernel's file say: the instructions that must stay, where
// control goes by itself, what may be entered, what it jumps to in other files, and where detours
// can lie. Does nothing for a program. Call it when the text and its functions are known.
void add_kernel_tables(const ObjectFile& elf, arch::ModuleText& text);

// Returns the addresses that the kernel or a module of it exports to modules by EXPORT_SYMBOL and
// its kin (functions and data, not sorted); none for a program.
std::vector<uint64_t> kernel_exports(const ObjectFile& elf);

}  // namespace dj
