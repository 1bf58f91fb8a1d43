// SPDX-License-Identifier: Apache-2.0
// Module: one object file of the target as probes see it: its functions by name, and its debug
// info, each read when first asked for. Addresses are the file's.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/debuginfo/closures.h"
#include "compiler/debuginfo/debug_info.h"
#include "compiler/debuginfo/object_file.h"
#include "compiler/debuginfo/parts.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/plt.h"
#include "compiler/debuginfo/symbol_versions.h"
#include "compiler/debuginfo/symbols.h"

namespace dj {

// One function that a pattern matched; aliases at one address are one CodeFunction.
struct CodeFunction {
  uint64_t begin = 0, end = 0;
  std::string_view symbol;  // the linker's name, without version
};

class Module {
 public:
  // name: as ObjectFile::open() takes it.
  static Result<std::unique_ptr<Module>> open(const std::string& path,
                                              const std::string& name = "");

  const std::string& path() const { return elf_.path(); }
  std::string base_name() const;
  const ObjectFile& elf() const { return elf_; }
  // Of the files that are here or have come from servers.
  const SymbolTable& symbols();
  // What people call the function.
  std::string name_of(const CodeFunction& function) {
    std::string name = foreign_name(function.symbol, function.begin);
    return name.empty() ? person_name(function.symbol) : name;
  }
  // What gdb calls the function of Fortran or Ada that begins there; empty: it is none.
  std::string foreign_name(std::string_view symbol, uint64_t begin);
  // Asks servers for the symbols that are missing here, once. Whether more are known now. What was
  // found before stays valid.
  bool fetch_symbols();
  // The function is a part of another one (parts.h).
  bool is_part(const CodeFunction& function);
  // From here on its nameless functions are among the symbols (nameless.h).
  void name_the_nameless();

  // What a look-up found, sorted by address. ifuncs: names that matched but are chosen at run time.
  struct Found {
    std::vector<CodeFunction> functions;
    std::vector<std::string> ifuncs;
  };
  // version: only functions that are this version of their name, "V1"; "@V1": as the default one.
  Found find(const NameMatcher& matcher, std::string_view version = {});
  // Which version of its name the function is that begins there, as find() takes it; empty: none.
  std::string version_at(uint64_t begin, std::string_view symbol);
  // The function whose code `address` is in; none: in no function that symbols tell of.
  std::optional<CodeFunction> function_at(uint64_t address);
  // The file exports a function that begins there (.dynsym).
  bool exports(uint64_t begin);
  const Plt& plt();
  size_t function_count();  // distinct addresses
  // Where an entry probe goes (arch/x86_64/entry_place.h).
  uint64_t entry_of(uint64_t begin) const;
  // Whether a kernel's function begins there that the kernel's own tracer cannot trace
  // (arch::has_tracer_place()).
  bool is_untraced(uint64_t begin) const;

  // From here on the module has no debug info, and asks no server for symbols. Call it first.
  void forgo_other_files();
  // How texts show some types; must outlive this object. Before debug_info().
  void set_printers(const TypePrinters* printers) { printers_ = printers; }
  DebugInfo* debug_info();  // null: the module has none. Opened at the first call
  // Why debug information that the file has is not read; empty: there is no such reason.
  std::string why_unreadable();

 private:
  explicit Module(ObjectFile elf) : elf_(std::move(elf)) {}
  uint64_t end_of(const Symbol& symbol);
  bool means(const NameMatcher& matcher, const Symbol& symbol);
  bool has_foreign();  // it has debug information of Fortran or Ada
  template <class Ask>
  void for_likely(const NameMatcher& matcher, const Ask& ask);
  void index_names();
  void forget_indexes();
  // The exported symbol of that name there; text: only if it means its version. Null: none.
  const VersionedSymbol* versioned(uint64_t address, std::string_view name,
                                   std::string_view text = {});
  const std::vector<uint64_t>& starts();

  ObjectFile elf_;
  struct Symbols {
    std::unique_ptr<SymbolTable> table;
    std::unique_ptr<SymbolTable> first;  // from before fetch_symbols()
    bool fetched = false;
    std::optional<Parts> parts;  // made when first needed
    bool nameless_added = false;
  } symbols_;
  // Indexes of them; each is made when it is first needed.
  struct Names {
    std::vector<const Symbol*> by_address;  // best name first
    size_t asked = 0;  // how often find() has looked for a name without wildcards
    std::vector<const Symbol*> by_name, mangled;  // index_names(): each function in one of them
    std::optional<ClosureNames> closures;
    std::vector<uint64_t> starts;  // of all functions, sorted
  } names_;
  std::unique_ptr<Plt> plt_;
  struct Exports {
    std::optional<std::vector<VersionedSymbol>> versioned;  // read when first needed
    std::vector<uint64_t> addresses;                        // sorted
    bool read = false;
  } exports_;
  struct Debug {
    std::unique_ptr<DebugInfo> info;
    bool tried = false;
    std::optional<bool> has_foreign;  // asked for when first needed
  } debug_;
  const TypePrinters* printers_ = nullptr;
};

}  // namespace dj
