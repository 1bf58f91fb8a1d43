// SPDX-License-Identifier: Apache-2.0
// Reads the dynamic relocations: each names a word and what the loader writes into it.
#include "compiler/debuginfo/tls.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

namespace dj {

namespace {

using Op = LocStep::Op;
using Steps = std::vector<LocStep>;

// One relocation of a word that is filled when the object is loaded.
struct LoaderWord {
  uint32_t type = 0;      // R_X86_64_...
  uint64_t address = 0;   // of the word
  std::string_view name;  // of the symbol; empty: none
  bool defined = false;   // the symbol lies in this object
  uint64_t value = 0;     // the symbol's and the addend
};

std::vector<LoaderWord> loader_words(const ObjectFile& elf, std::initializer_list<uint32_t> types) {
  std::vector<LoaderWord> words;
  const Section* symbols = elf.section(".dynsym");
  const Section* names = elf.section(".dynstr");
  for (const Section& section : elf.sections()) {
    if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0) {
      continue;
    }
    for (const Elf64_Rela& r : records<Elf64_Rela>(section.bytes)) {
      const auto type = uint32_t(ELF64_R_TYPE(r.r_info));
      if (std::find(types.begin(), types.end(), type) == types.end()) {
        continue;
      }
      LoaderWord word{type, r.r_offset, {}, true, uint64_t(r.r_addend)};
      const uint64_t number = ELF64_R_SYM(r.r_info);
      if (number != 0 && symbols && names) {
        const std::span<const Elf64_Sym> table = records<Elf64_Sym>(symbols->bytes);
        const Elf64_Sym symbol = number < table.size() ? table[number] : Elf64_Sym{};
        const Bytes text =
            names->bytes.subspan(std::min<size_t>(symbol.st_name, names->bytes.size()));
        const char* begin = reinterpret_cast<const char*>(text.data());
        word.name = {begin, ::strnlen(begin, text.size())};
        word.defined = symbol.st_shndx != SHN_UNDEF;
        word.value += symbol.st_value;
      }
      words.push_back(word);
    }
  }
  return words;
}

const LoaderWord* find_word(const std::vector<LoaderWord>& words, uint32_t type,
                            std::string_view symbol) {
  auto found = std::find_if(words.begin(), words.end(), [&](const LoaderWord& w) {
    return w.type == type && !symbol.empty() && w.name == symbol;
  });
  return found != words.end() ? &*found : nullptr;
}

// The word of that type that tells of this object's own block: of no symbol, else of one that is
// defined here.
const LoaderWord* own_word(const std::vector<LoaderWord>& words, uint32_t type) {
  const LoaderWord* best = nullptr;
  for (const LoaderWord& w : words) {
    if (w.type == type && w.defined && (!best || (w.name.empty() && !best->name.empty()))) {
      best = &w;
    }
  }
  return best;
}

// --- expressions; each pushes one word ---

Steps operator+(Steps left, const Steps& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
Steps pushed(uint64_t n) { return {{Op::PushConst, int64_t(n)}}; }
Steps binary(Steps left, Op op, const Steps& right) {
  return std::move(left) + right + Steps{{op}};
}
// The words read here are the loader's own: they can always be read.
Steps word_at(Steps address) { return std::move(address) + Steps{{Op::StackDeref, 8}}; }
Steps in_object(uint64_t address) { return pushed(address) + Steps{{Op::PushBias}, {Op::Add}}; }
Steps from_thread_pointer(const Steps& distance) {
  return Steps{{Op::PushFsBase}} + distance + Steps{{Op::Add}};
}
// `condition` (0 or 1) chooses.
Steps choose(const Steps& condition, const Steps& yes, const Steps& no) {
  const Steps otherwise = binary(condition, Op::Eq, pushed(0));
  return binary(binary(condition, Op::Mul, yes), Op::Add, binary(otherwise, Op::Mul, no));
}

const Elf64_Phdr* tls_segment(const ObjectFile& elf) {
  for (const Elf64_Phdr& p : elf.segments()) {
    if (p.p_type == PT_TLS) {
      return &p;
    }
  }
  return nullptr;
}

// Where the variable's initial value lies in the object. What begins as 0 has no bytes there: the
// first entry of each symbol table is empty. None: a large variable that begins as 0.
std::optional<Steps> initial_value(const ObjectFile& elf, const TlsVariable& variable) {
  const Elf64_Phdr* tls = tls_segment(elf);
  if (tls && variable.offset + variable.bytes <= tls->p_filesz) {
    return in_object(tls->p_vaddr + variable.offset);
  }
  const Section* symbols = elf.section(".dynsym");
  if (symbols && variable.bytes > 0 && variable.bytes <= sizeof(Elf64_Sym)) {
    return in_object(symbols->header.sh_addr);
  }
  return std::nullopt;
}

// The address in the module of that number. The thread's list of blocks begins at word 8 of its
// control block: two words a module, the first the block's address, 0 or -1 where it has none; in
// front of the list stands how many modules it has room for.
Steps in_block(const Steps& module, const Steps& offset, const std::optional<Steps>& initial) {
  const Steps list = word_at(from_thread_pointer(pushed(8)));
  const Steps room = word_at(binary(list, Op::Sub, pushed(16)));
  const Steps listed = binary(module, Op::Le, room);
  const Steps row = binary(binary(module, Op::Mul, listed), Op::Mul, pushed(16));
  const Steps block = word_at(binary(list, Op::Add, row));
  const Steps there = binary(binary(block, Op::Gt, pushed(0)), Op::And, listed);
  // Without a block and an initial value: an address that nobody can read.
  return choose(there, binary(block, Op::Add, offset), initial.value_or(pushed(0)));
}

// A descriptor's second word is a distance from the thread pointer, which is negative, or points to
// module and offset.
Steps by_descriptor(const LoaderWord& word, uint64_t offset, const std::optional<Steps>& initial) {
  const Steps second = in_object(word.address + 8);
  const Steps argument = word_at(second);
  const Steps fixed = binary(argument, Op::Lt, pushed(0));
  const Steps moving = binary(fixed, Op::Eq, pushed(0));
  const Steps pair = choose(fixed, second, argument);  // always readable
  const Steps module = binary(word_at(pair), Op::Mul, moving);
  const Steps rest = pushed(offset - word.value);
  const Steps within = binary(word_at(binary(pair, Op::Add, pushed(8))), Op::Add, rest);
  return choose(fixed, from_thread_pointer(binary(argument, Op::Add, rest)),
                in_block(module, within, initial));
}

Result<LocExpr> in_program(const Elf64_Phdr& tls, uint64_t offset) {
  const uint64_t align = std::max<uint64_t>(1, tls.p_align);
  if (tls.p_vaddr % align != 0) {
    return Error{"the program's thread-local block is laid out in an unusual way",
                 Fail::Unsupported};
  }
  const uint64_t bytes = (tls.p_memsz + align - 1) / align * align;
  return LocExpr{from_thread_pointer(pushed(offset - bytes))};
}

// musl's threads keep another kind of list.
bool for_musl(const ObjectFile& elf) {
  const Section* names = elf.section(".dynstr");
  const std::string_view text =
      names ? std::string_view(reinterpret_cast<const char*>(names->bytes.data()),
                               names->bytes.size())
            : std::string_view();
  return text.find("libc.musl-") != std::string_view::npos;
}

}  // namespace

Result<LocExpr> tls_address(const ObjectFile& elf, const TlsVariable& variable) {
  const Elf64_Phdr* tls = tls_segment(elf);
  if (!tls) {
    return Error{"its object has no thread-local block"};
  }
  if (elf.is_program()) {
    return in_program(*tls, variable.offset);
  }
  if (for_musl(elf)) {
    return Error{"thread-local variables of musl's libraries are not built yet", Fail::Unsupported};
  }
  const std::vector<LoaderWord> words =
      loader_words(elf, {R_X86_64_TPOFF64, R_X86_64_DTPMOD64, R_X86_64_DTPOFF64, R_X86_64_TLSDESC});
  if (const LoaderWord* word = own_word(words, R_X86_64_TPOFF64)) {
    const Steps distance =
        binary(word_at(in_object(word->address)), Op::Add, pushed(variable.offset - word->value));
    return LocExpr{from_thread_pointer(distance)};
  }
  const std::optional<Steps> initial = initial_value(elf, variable);
  const LoaderWord* module = find_word(words, R_X86_64_DTPMOD64, variable.symbol);
  module = module ? module : own_word(words, R_X86_64_DTPMOD64);
  if (module) {
    const LoaderWord* offset = find_word(words, R_X86_64_DTPOFF64, variable.symbol);
    return LocExpr{in_block(word_at(in_object(module->address)),
                            offset ? word_at(in_object(offset->address)) : pushed(variable.offset),
                            initial)};
  }
  if (const LoaderWord* word = own_word(words, R_X86_64_TLSDESC)) {
    return LocExpr{by_descriptor(*word, variable.offset, initial)};
  }
  return Error{"no code of its object uses thread-local variables"};
}

Result<LocExpr> foreign_address(const ObjectFile& elf, const std::string& symbol) {
  const std::vector<LoaderWord> words = loader_words(
      elf, {R_X86_64_GLOB_DAT, R_X86_64_TPOFF64, R_X86_64_DTPMOD64, R_X86_64_DTPOFF64});
  if (const LoaderWord* word = find_word(words, R_X86_64_GLOB_DAT, symbol)) {
    return LocExpr{word_at(in_object(word->address))};
  }
  if (const LoaderWord* word = find_word(words, R_X86_64_TPOFF64, symbol)) {
    return LocExpr{from_thread_pointer(word_at(in_object(word->address)))};
  }
  const LoaderWord* module = find_word(words, R_X86_64_DTPMOD64, symbol);
  const LoaderWord* offset = find_word(words, R_X86_64_DTPOFF64, symbol);
  if (module && offset) {
    return LocExpr{in_block(word_at(in_object(module->address)),
                            word_at(in_object(offset->address)), std::nullopt)};
  }
  return Error{"another object defines it, and no code of this one uses it", Fail::Unsupported};
}

}  // namespace dj
