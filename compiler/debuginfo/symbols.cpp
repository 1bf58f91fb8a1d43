// SPDX-License-Identifier: Apache-2.0
// Walks the symbol tables where they lie in the mapped files; only .gnu_debugdata goes through
// libdwfl.
#include "compiler/debuginfo/symbols.h"

#include <elfutils/libdwfl.h>

#include <algorithm>
#include <unordered_set>

#include "compiler/debuginfo/dwfl_file.h"
#include "compiler/debuginfo/go_functions.h"
#include "compiler/debuginfo/kernel_tables.h"
#include "compiler/debuginfo/unsized.h"
#include "compiler/debuginfo/untyped.h"

namespace dj {

namespace {

// Calls visit(Elf64_Sym, name) for each symbol of the tables of this type.
template <typename Visit>
void each_symbol(const ObjectFile& elf, uint32_t table_type, Visit visit) {
  for (const Section& table : elf.sections()) {
    if (table.header.sh_type != table_type || table.header.sh_link >= elf.sections().size()) {
      continue;
    }
    const Bytes names = elf.sections()[table.header.sh_link].bytes;
    for (const Elf64_Sym& s : records<Elf64_Sym>(table.bytes)) {
      visit(s, c_string(names, s.st_name));
    }
  }
}

bool is_function(const Elf64_Sym& s) {
  const unsigned type = ELF64_ST_TYPE(s.st_info);
  return s.st_shndx != SHN_UNDEF && s.st_value != 0 && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

// clang's -fbasic-block-sections: what a function's block is called, behind the function's name.
constexpr std::string_view kPieceSuffix = ".__part.";

// FunctionList: takes symbols one by one and appends the functions among them to `out`. `code` is
// the module itself: a debug file has no code.
class FunctionList {
 public:
  FunctionList(const ObjectFile& code, std::vector<Symbol>& out) : code_(code), out_(out) {}

  // Linkers may write the version behind the name (symbol_versions.h).
  void add(const Elf64_Sym& s, std::string_view text) {
    const std::string_view name = text.substr(0, text.find('@', 1));
    if (name.empty() || !code_.is_code(s.st_value)) return;
    Symbol symbol{s.st_value, s.st_size, name, uint8_t(ELF64_ST_BIND(s.st_info)),
                  ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC};
    if (is_function(s)) {
      out_.push_back(symbol);
    } else if (is_label(s, name)) {
      symbol.untyped = true;
      labels_.push_back(symbol);
    }
  }
  // To be called behind the last symbol.
  void finish() {
    add_untyped(code_, labels_, out_);
    settle_sizes(code_, out_);
  }

 private:
  bool is_label(const Elf64_Sym& s, std::string_view name) const {
    return ELF64_ST_TYPE(s.st_info) == STT_NOTYPE && s.st_shndx != SHN_UNDEF &&
           s.st_shndx != SHN_ABS && may_name_function(name) &&
           name.find(kPieceSuffix) == std::string_view::npos && code_.code_section(s.st_value);
  }

  const ObjectFile& code_;
  std::vector<Symbol>& out_;
  std::vector<Symbol> labels_;
};

// Appends the functions of one kind of table.
bool add_functions(const ObjectFile& table, uint32_t type, const ObjectFile& code,
                   std::vector<Symbol>& out) {
  const size_t before = out.size();
  FunctionList list(code, out);
  each_symbol(table, type, [&](const Elf64_Sym& s, std::string_view name) { list.add(s, name); });
  list.finish();
  return out.size() > before;
}

// clang's -fsanitize=cfi: f is a jump in a table, which pointers lead to, and its code is f.cfi; of
// a function elsewhere the jump is f.cfi_jt. Each of them claims the bytes of the whole table.
constexpr std::string_view kCheckedSuffix = ".cfi", kCheckedJumpSuffix = ".cfi_jt";

void cut_to_neighbours(const std::vector<Symbol*>& table, const ObjectFile& code) {
  constexpr uint64_t kJump = 8;
  for (size_t i = 0; i < table.size(); i++) {
    Symbol& jump = *table[i];
    const uint64_t next = i + 1 < table.size() ? table[i + 1]->address : ~uint64_t{0};
    if (next < jump.address + jump.size) {
      jump.size = next - jump.address;
    } else if (i > 0 && table[i - 1]->address + table[i - 1]->size == jump.address) {
      jump.size = table[i - 1]->size;
    }
    jump.size = std::min<uint64_t>(std::max(jump.size, kJump), code.at(jump.address).size());
  }
}

void settle_checked(std::vector<Symbol>& functions, const ObjectFile& code) {
  std::unordered_set<std::string_view> checked;
  for (const Symbol& s : functions) {
    if (s.name.ends_with(kCheckedSuffix)) {
      checked.insert(s.name.substr(0, s.name.size() - kCheckedSuffix.size()));
    }
  }
  std::vector<Symbol*> table;
  for (Symbol& s : functions) {
    s.jump = checked.contains(s.name);
    if (s.jump || s.name.ends_with(kCheckedJumpSuffix)) {
      table.push_back(&s);
    }
  }
  std::sort(table.begin(), table.end(),
            [](const Symbol* a, const Symbol* b) { return a->address < b->address; });
  cut_to_neighbours(table, code);
}

void add_pieces(const ObjectFile& table, const ObjectFile& code, std::vector<Symbol>& out) {
  each_symbol(table, SHT_SYMTAB, [&](const Elf64_Sym& s, std::string_view name) {
    if (ELF64_ST_TYPE(s.st_info) != STT_NOTYPE || s.st_size == 0 || !code.is_code(s.st_value)) {
      return;
    }
    const size_t suffix = name.rfind(kPieceSuffix);
    if (suffix != std::string_view::npos) {
      out.push_back({s.st_value, s.st_size, name.substr(0, suffix), STB_LOCAL, false});
    }
  });
}

// The functions of the xz-packed symbol table in .gnu_debugdata; libdwfl unpacks it.
void add_packed_functions(const ObjectFile& elf, SymbolTable& table) {
  DwflFile file(elf, Ask::Nobody);
  const int count = file.module() ? dwfl_module_getsymtab(file.module()) : 0;
  FunctionList list(elf, table.functions);
  for (int i = 0; i < count; i++) {
    GElf_Sym s;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* name =
        dwfl_module_getsym_info(file.module(), i, &s, &address, &section, nullptr, nullptr);
    if (!name || !elf.is_code(s.st_value)) continue;
    table.names.emplace_back(name);
    list.add(s, table.names.back());
  }
  list.finish();
}

}  // namespace

SymbolTable read_symbols(const ObjectFile& elf, Ask whom) {
  SymbolTable table;
  table.complete = true;
  if (add_functions(elf, SHT_SYMTAB, elf, table.functions)) {
    add_pieces(elf, elf, table.pieces);
    settle_checked(table.functions, elf);
    return table;
  }
  const bool is_packed = elf.section(".gnu_debugdata") != nullptr;
  table.debug_file = open_debug_file(elf, is_packed ? Ask::Nobody : whom);
  if (table.debug_file && add_functions(*table.debug_file, SHT_SYMTAB, elf, table.functions)) {
    add_pieces(*table.debug_file, elf, table.pieces);
    settle_checked(table.functions, elf);
    return table;
  }
  table.complete = false;
  add_functions(elf, SHT_DYNSYM, elf, table.functions);
  add_go_functions(elf, table);
  if (is_packed) {
    add_packed_functions(elf, table);
    table.complete = true;
  }
  return table;
}

std::vector<Symbol> own_symbols(const ObjectFile& elf) {
  std::vector<Symbol> functions;
  if (!add_functions(elf, SHT_SYMTAB, elf, functions)) {
    add_functions(elf, SHT_DYNSYM, elf, functions);
  }
  return functions;
}

std::vector<Symbol> functions_outside(const ObjectFile& elf) {
  std::vector<Symbol> functions;
  each_symbol(elf, SHT_SYMTAB, [&](const Elf64_Sym& s, std::string_view name) {
    if (is_function(s) && s.st_shndx == SHN_ABS)
      functions.push_back({s.st_value, s.st_size, name, uint8_t(ELF64_ST_BIND(s.st_info))});
  });
  return functions;
}

std::vector<uint64_t> exported_functions(const ObjectFile& elf) {
  std::vector<Symbol> functions;
  add_functions(elf, SHT_DYNSYM, elf, functions);
  std::vector<uint64_t> addresses;
  for (const Symbol& s : functions) {
    if (s.binding != STB_LOCAL) {
      addresses.push_back(s.address);
    }
  }
  const std::vector<uint64_t> to_modules = kernel_exports(elf);
  addresses.insert(addresses.end(), to_modules.begin(), to_modules.end());
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

uint64_t find_data_symbol(const ObjectFile& elf, std::string_view wanted) {
  uint64_t address = 0;
  for (uint32_t type : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    each_symbol(elf, type, [&](const Elf64_Sym& s, std::string_view name) {
      if (s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) == STT_OBJECT && name == wanted) {
        address = s.st_value;
      }
    });
  }
  return address;
}

}  // namespace dj
