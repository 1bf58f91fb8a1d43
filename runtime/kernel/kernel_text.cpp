// SPDX-License-Identifier: Apache-2.0
// The kernel patches its text while it runs; names have no sizes.
#include "runtime/kernel/kernel_text.h"

#include <algorithm>
#include <array>

#include "arch/x86_64/decode.h"

namespace dj {

namespace {

constexpr uint8_t kInt3 = 0xcc;

// __pfx_ and __cfi_ name the bytes in front of a function that calls go around.
bool names_function(const KernelSymbol& symbol) {
  return !symbol.is_bound() && !symbol.name.starts_with("__pfx_") &&
         !symbol.name.starts_with("__cfi_");
}

// Returns how many bytes a function has that stands at the begin of `code`: the int3 behind it are
// none of it. Trampolines of static calls end in `ud1 %esp,%ecx`, whose last byte is the same.
uint64_t without_int3(std::span<const uint8_t> code) {
  constexpr std::array<uint8_t, 3> kUd1 = {0x0f, 0xb9, kInt3};
  while (code.size() > 1 && code.back() == kInt3) {
    if (code.size() >= kUd1.size() && std::ranges::equal(code.last(kUd1.size()), kUd1)) break;
    code = code.first(code.size() - 1);
  }
  return code.size();
}

// The same, of the last function of a section: zeros fill the bytes up to the begin of the next
// one. Instructions end in zeros, too, so only those behind one that leaves are none of it.
uint64_t without_zeros(std::span<const uint8_t> code) {
  size_t zeros = code.size();
  while (zeros > 0 && code[zeros - 1] == 0) zeros--;
  size_t at = 0;
  arch::Insn insn;
  while (at < zeros && arch::decode(code.subspan(at), at, insn)) at += insn.length;
  return at >= zeros && (insn.leaves() || insn.calls()) ? at : code.size();
}

}  // namespace

void add_kernel_functions(const std::vector<KernelSymbol>& symbols, uint64_t begin,
                          std::span<const uint8_t> text, const std::vector<uint64_t>& ends,
                          ElfBuilder& elf) {
  const uint64_t text_end = begin + text.size();
  std::vector<const KernelSymbol*> inside;
  for (const KernelSymbol& symbol : symbols) {
    if (symbol.is_text() && symbol.address >= begin && symbol.address < text_end)
      inside.push_back(&symbol);
  }
  uint64_t next = text_end;  // the begin of the symbol behind that is not an alias
  for (size_t i = inside.size(); i-- > 0;) {
    const KernelSymbol& symbol = *inside[i];
    if (i + 1 < inside.size() && inside[i + 1]->address != symbol.address)
      next = inside[i + 1]->address;
    if (!names_function(symbol)) continue;
    const auto cut = std::ranges::upper_bound(ends, symbol.address);
    const bool is_last = cut != ends.end() && *cut <= next;
    const uint64_t end = is_last ? *cut : next;
    std::span<const uint8_t> code = text.subspan(symbol.address - begin, end - symbol.address);
    if (is_last) code = code.first(without_zeros(code));
    elf.add_function(symbol.address, without_int3(code), symbol.name, symbol.is_global());
  }
}

// The kernel patches its text by an int3 that stands there for some microseconds: what two looks
// find alike is code.
Status read_kernel_text(const KernelMemory& memory, uint64_t address, std::span<uint8_t> text) {
  constexpr int kLooks = 20;
  DJ_TRY_DO(memory.read(address, text));
  std::vector<uint8_t> again(text.size());
  for (int look = 0; look < kLooks; look++) {
    DJ_TRY_DO(memory.read(address, again));
    if (std::equal(text.begin(), text.end(), again.begin())) return ok_status();
    std::copy(again.begin(), again.end(), text.begin());
  }
  return Error{"the kernel's text changes each time that djtap looks at it"};
}

}  // namespace dj
