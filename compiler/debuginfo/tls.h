// SPDX-License-Identifier: Apache-2.0
// Where thread-local variables are, and variables that other objects define. Only for this room.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/debuginfo/object_file.h"
#include "compiler/stages/location.h"

namespace dj {

// A thread-local variable as its object's debug info describes it.
struct TlsVariable {
  std::string symbol;   // its name for the linker; may be empty
  uint64_t offset = 0;  // bytes from the beginning of the object's thread-local block
  uint64_t bytes = 0;   // its size; 0: not known
};

// Steps that push the variable's address in the thread that runs them. A program's block lies at a
// distance from the thread pointer that the file tells; a library's is found by a word that the
// loader has filled for the library's own code (GOT): a distance from the thread pointer, or the
// number of the module, which selects a block from the thread's list (DTV). A thread that has not
// used the variable has no such block yet: then the address is that of the initial value.
// Source: Drepper, "ELF Handling For Thread-Local Storage"; glibc's sysdeps/x86_64/dl-tls.h.
Result<LocExpr> tls_address(const ObjectFile& elf, const TlsVariable& variable);

// Steps that push the address of a variable that another object defines, by the word that the
// loader has filled for this object's code. Error: its code does not use the variable by such a
// word.
Result<LocExpr> foreign_address(const ObjectFile& elf, const std::string& symbol);

}  // namespace dj
