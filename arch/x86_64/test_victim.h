// SPDX-License-Identifier: Apache-2.0
// For tests: victims written in assembly, assembled and linked by binutils, and a small ELF reader
// that turns a file into a ModuleText (the ground truth is binutils', not ours).
#pragma once
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/text.h"
#include "compiler/base/result.h"

namespace dj::arch::test {

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TempDir {
 public:
  TempDir() { CHECK(mkdtemp(path_) != nullptr); }
  ~TempDir() { run(std::string("rm -r ") + path_); }
  std::string operator/(const char* name) const { return std::string(path_) + "/" + name; }
  static void run(const std::string& command) { CHECK(std::system(command.c_str()) == 0); }

 private:
  char path_[32] = "/tmp/dj_arch_XXXXXX";
};

// Raw machine code of AT&T assembly.
inline std::vector<uint8_t> assemble(const std::string& source) {
  static std::map<std::string, std::vector<uint8_t>> known;
  if (const auto it = known.find(source); it != known.end()) return it->second;
  TempDir dir;
  std::ofstream(dir / "v.s") << source << "\n";
  TempDir::run("as -o " + (dir / "v.o") + " " + (dir / "v.s"));
  TempDir::run("objcopy -O binary -j .text " + (dir / "v.o") + " " + (dir / "v.bin"));
  const std::string bytes = read_file(dir / "v.bin");
  return known[source] = {bytes.begin(), bytes.end()};
}

// To begin a victim with: `func f` and `done f` stand around the code of a function.
constexpr const char* kFunctions = R"(
.macro func name
  .globl \name
  .type \name,@function
  \name:
.endm
.macro done name
  .size \name, . - \name
.endm
.text
)";

struct Victim {
  ModuleText text;
  std::map<std::string, uint64_t> symbols;
  std::map<std::string, uint64_t> sizes;
  std::vector<uint64_t> exported, cold;  // functions with global names; parts named f.cold
};

inline void sort_lists(ModuleText& text) {
  for (auto* ranges : {&text.functions, &text.fixed})
    std::sort(ranges->begin(), ranges->end(),
              [](const FunctionRange& a, const FunctionRange& b) { return a.begin < b.begin; });
  for (auto* addresses : {&text.named, &text.landing_pads, &text.address_taken})
    std::sort(addresses->begin(), addresses->end());
}

// Functions are the STT_FUNC symbols; "cold" and "other" count as found without a name. Names
// beginning pad_ are landing pads, rseq_X (a function symbol) is a critical section, signature_X
// the word in front of its abort address, fixed_X bytes that must stay; every aligned word of .data
// that leads into text is an address taken, in programs linked at a fixed address of read-only data
// too.
inline Victim read_elf(const std::string& path) {
  const std::string file = read_file(path);
  Victim victim;
  victim.text.path = path;
  Elf64_Ehdr header;
  CHECK(file.size() > sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  victim.text.position_independent = header.e_type == ET_DYN;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const auto contents = [&](const Elf64_Shdr& s) { return file.substr(s.sh_offset, s.sh_size); };
  std::string data;
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_RELA || !(s.sh_flags & SHF_ALLOC)) continue;
    const std::string bytes = contents(s);
    data.resize((data.size() + 7) & ~size_t(7));
    if (s.sh_flags & SHF_WRITE) {
      data += bytes;
    } else {
      const bool code = (s.sh_flags & SHF_EXECINSTR) != 0;
      if (!code && !victim.text.position_independent) data += bytes;
      auto& ranges = code ? victim.text.text : victim.text.rodata;
      auto kept = std::make_shared<std::vector<uint8_t>>(bytes.begin(), bytes.end());
      ranges.push_back({s.sh_addr, *kept});
      victim.text.kept.push_back(std::move(kept));
    }
  }
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM) continue;
    const std::string names = contents(sections[s.sh_link]);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file.data() + s.sh_offset + at, sizeof symbol);
      const std::string name = names.c_str() + symbol.st_name;
      if (symbol.st_shndx == SHN_UNDEF || name.empty()) continue;
      victim.symbols[name] = symbol.st_value;
      victim.sizes[name] = symbol.st_size;
      const FunctionRange range{symbol.st_value, symbol.st_value + symbol.st_size};
      const bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size != 0;
      if (name.rfind("rseq_", 0) == 0) {
        victim.text.rseq_sections.push_back(range);
      } else if (name.rfind("fixed_", 0) == 0) {
        victim.text.fixed.push_back(range);
      } else if (name.rfind("signature_", 0) == 0) {
        victim.text.rseq_signatures.push_back({symbol.st_value, symbol.st_value + 4});
      } else if (name.rfind("pad_", 0) == 0) {
        victim.text.landing_pads.push_back(symbol.st_value);
      } else if (function) {
        victim.text.functions.push_back(range);
        const bool nameless = name == "cold" || name == "other";
        if (!nameless) victim.text.named.push_back(symbol.st_value);
        if (name.find(".cold") != std::string::npos) victim.cold.push_back(symbol.st_value);
        if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) victim.exported.push_back(symbol.st_value);
      }
    }
  }
  for (size_t at = 0; at + 8 <= data.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, data.data() + at, 8);
    for (const TextRange& range : victim.text.text) {
      if (word - range.address < range.bytes.size()) victim.text.address_taken.push_back(word);
    }
  }
  sort_lists(victim.text);
  return victim;
}

constexpr const char* kProgramPlaces = "-Ttext=0x401000 -Tdata=0x405000";

// places: where ld puts the sections.
inline Victim link_victim(const std::string& source, const std::string& places = kProgramPlaces) {
  TempDir dir;
  std::ofstream(dir / "v.s") << source << "\n";
  TempDir::run("as -o " + (dir / "v.o") + " " + (dir / "v.s"));
  TempDir::run("ld -e 0 " + places + " -o " + (dir / "v") + " " + (dir / "v.o"));
  return read_elf(dir / "v");
}

// What the checks say of the one place at a symbol.
inline Region check_one(const Victim& v, const std::string& symbol, uint64_t offset = 0) {
  Checker checker(v.text);
  std::vector<Region> regions(1);
  regions[0].address = v.symbols.at(symbol) + offset;
  checker.check(regions);
  return regions[0];
}

}  // namespace dj::arch::test
