// SPDX-License-Identifier: Apache-2.0
// Symbols in the operands of SDT marks: "-4@counter(%rip)" becomes a form with the address.
#pragma once
#include <string>

#include "compiler/debuginfo/module.h"

namespace dj {

// The operand with ELF addresses where it names symbols of the module: "-4@counter+8(%rip)" as
// "-4@[0x4018]", which operand_value() takes, "$table" as "$0x4010". An operand whose symbol the
// file does not have, or has at several addresses, comes back as it is.
std::string with_addresses(const std::string& operand, Module& module);

}  // namespace dj
