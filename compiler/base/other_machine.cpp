// SPDX-License-Identifier: Apache-2.0
// The machines that Debian has been made for; others by their number in the ELF header.
#include "compiler/base/other_machine.h"

#include <elf.h>
#include <fmt/format.h>

namespace dj {
namespace {

constexpr struct {
  unsigned number;
  const char* name;
} kMachines[] = {
    {EM_386, "32-bit x86 (i386)"},
    {EM_X86_64, "x86-64 with 32-bit pointers (x32)"},
    {EM_ARM, "32-bit ARM"},
    {EM_AARCH64, "64-bit ARM (AArch64)"},
    {EM_RISCV, "RISC-V"},
    {EM_PPC, "32-bit PowerPC"},
    {EM_PPC64, "64-bit PowerPC"},
    {EM_S390, "IBM Z (s390)"},
    {EM_MIPS, "MIPS"},
    {EM_SPARC, "SPARC"},
    {EM_SPARCV9, "64-bit SPARC"},
    {EM_LOONGARCH, "LoongArch"},
    {EM_IA_64, "Itanium (IA-64)"},
    {EM_68K, "Motorola 68000"},
    {EM_BPF, "the kernel's BPF"},
};

}  // namespace

std::string other_machine(const std::string& who, const unsigned char* head) {
  constexpr int kMachine = offsetof(Elf64_Ehdr, e_machine);  // the same place in files of 32 bits
  const bool big = head[EI_DATA] == ELFDATA2MSB;
  const unsigned number = unsigned{head[kMachine + !big]} << 8 | head[kMachine + big];
  std::string made_for = fmt::format("machine number {}", number);
  for (const auto& machine : kMachines) {
    if (machine.number == number) made_for = machine.name;
  }
  return fmt::format("{} is made for {}; djtap probes programs for x86-64 alone", who, made_for);
}

}  // namespace dj
