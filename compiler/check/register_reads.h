// SPDX-License-Identifier: Apache-2.0
// Registers in functions: a function has no place in the program, so what it reads of the probed
// place (register(), int_arg(), print_regs() ...) comes to it as parameters that the script does
// not write, and each probe that calls it passes its own.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/ast.h"
#include "compiler/stages/program.h"

namespace dj {

struct RegisterRead {
  std::string text;  // as one writes it: `register("rax")`; also the parameter's name
  const ast::Call* call;
};
// By the name of a function: what all functions of that name read, and those that they call; each
// read once, in order of their texts.
using RegisterReads = std::map<std::string, std::vector<RegisterRead>>;

// Takes the script, whose nodes the result points to: it must outlive it. Reads whose arguments are
// wrong are left out; binding the function's body reports them.
RegisterReads find_register_reads(const ast::Script& script);

// The calls that print_regs() stands for, in the order in which it prints them: the instruction
// pointer, all general registers, flags and selectors. They live as long as the program.
const std::vector<ast::Call>& printed_registers();
// print_regs()'s format. Source: _stp_print_regs() of SystemTap's runtime/linux/regs.c, with the
// segments' selectors alone, and without what the kernel alone sees (control registers).
extern const char* const kRegistersFormat;

// `register("rax")`, `int_arg(1)`: how a read is written; "" where its arguments are no literals.
std::string text_of_read(const ast::Call& call);
// What a read means: its base, register or number, width. Wrong arguments are reported to `diags`;
// false then.
bool describe_read(const ast::Call& call, TargetExpr& wanted, Diags& diags);

}  // namespace dj
