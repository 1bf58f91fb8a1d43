// Walks the symbol tables where they lie in the mapped files; only .gnu_debugdata goes through
// libdwfl.
#include "compiler/debuginfo/symbols.h"

#include <elfutils/libdwfl.h>

#include <algorithm>

#include "compiler/debuginfo/dwfl_file.h"

namespace dj {

namespace {

std::string_view symbol_name(Bytes names, uint32_t offset) {
  if (offset >= names.size()) {
    return {};
  }
  const char* text = reinterpret_cast<const char*>(names.data()) + offset;
  return {text, ::strnlen(text, names.size() - offset)};
}

// Calls visit(Elf64_Sym, name) for each symbol of the tables of this type.
template <typename Visit>
void each_symbol(const ObjectFile& elf, uint32_t table_type, Visit visit) {
  for (const Section& table : elf.sections()) {
    if (table.header.sh_type != table_type || table.header.sh_link >= elf.sections().size()) {
      continue;
    }
    const Bytes names = elf.sections()[table.header.sh_link].bytes;
    for (const Elf64_Sym& s : records<Elf64_Sym>(table.bytes)) {
      visit(s, symbol_name(names, s.st_name));
    }
  }
}

bool is_function(const Elf64_Sym& s) {
  const unsigned type = ELF64_ST_TYPE(s.st_info);
  return s.st_shndx != SHN_UNDEF && s.st_value != 0 && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

// Appends the functions of one kind of table. `code` is the module itself: a debug file has no
// code.
bool add_functions(const ObjectFile& table, uint32_t type, const ObjectFile& code,
                   std::vector<Symbol>& out) {
  const size_t before = out.size();
  each_symbol(table, type, [&](const Elf64_Sym& s, std::string_view name) {
    if (is_function(s) && code.is_code(s.st_value) && !name.empty()) {
      out.push_back({s.st_value, s.st_size, name, uint8_t(ELF64_ST_BIND(s.st_info)),
                     ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC});
    }
  });
  return out.size() > before;
}

// The functions of the xz-packed symbol table in .gnu_debugdata; libdwfl unpacks it.
void add_packed_functions(const ObjectFile& elf, SymbolTable& table) {
  DwflFile file(elf.open_path());
  const int count = file.module() ? dwfl_module_getsymtab(file.module()) : 0;
  for (int i = 0; i < count; i++) {
    GElf_Sym s;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* name =
        dwfl_module_getsym_info(file.module(), i, &s, &address, &section, nullptr, nullptr);
    if (name && *name && is_function(s) && elf.is_code(s.st_value)) {
      table.names.emplace_back(name);
      table.functions.push_back({s.st_value, s.st_size, table.names.back(),
                                 uint8_t(ELF64_ST_BIND(s.st_info)),
                                 ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC});
    }
  }
}

}  // namespace

SymbolTable read_symbols(const ObjectFile& elf) {
  SymbolTable table;
  table.complete = true;
  if (add_functions(elf, SHT_SYMTAB, elf, table.functions)) {
    return table;
  }
  const std::string debug_path = find_debug_file(elf);
  if (!debug_path.empty()) {
    Result<ObjectFile> file = ObjectFile::open(debug_path);
    if (file.ok()) {
      table.debug_file = std::make_shared<ObjectFile>(file.take());
      if (add_functions(*table.debug_file, SHT_SYMTAB, elf, table.functions)) {
        return table;
      }
    }
  }
  table.complete = false;
  add_functions(elf, SHT_DYNSYM, elf, table.functions);
  if (elf.section(".gnu_debugdata")) {
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

std::vector<uint64_t> exported_functions(const ObjectFile& elf) {
  std::vector<Symbol> functions;
  add_functions(elf, SHT_DYNSYM, elf, functions);
  std::vector<uint64_t> addresses;
  for (const Symbol& s : functions) {
    if (s.binding != STB_LOCAL) {
      addresses.push_back(s.address);
    }
  }
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
