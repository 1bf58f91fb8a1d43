// SPDX-License-Identifier: Apache-2.0
// Counts for each listed name how many functions of the object it means, as NameMatcher does.
#include "compiler/resolve/telling_names.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compiler/base/parallel.h"
#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/pattern.h"

namespace dj {

namespace {

// What names a function has, from the whole one to its last component; an unnamed namespace may be
// left out. Ada's components are separated by dots.
std::vector<std::string> names_for(const std::string& name, bool is_dotted) {
  if (is_dotted) {
    std::vector<std::string> names = {name};
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
      names.push_back(name.substr(dot + 1));
    return names;
  }
  std::vector<std::string> names;
  std::string text, short_text;
  const std::vector<std::string_view> parts = components(name);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::string with = (text.empty() ? "" : "::") + text;
    text = std::string(*part) + with;
    if (*part != "(anonymous namespace)")
      short_text = std::string(*part) + (short_text.empty() ? "" : "::") + short_text;
    names.push_back(text);
    if (short_text != text) names.push_back(short_text);
  }
  return names;
}

// Of the symbols, by their index.
struct Names {
  std::vector<std::string> all;
  std::vector<bool> dotted;
};

Names names_of(const std::vector<Symbol>& symbols, std::string (*name_of)(std::string_view)) {
  Names names{std::vector<std::string>(symbols.size()), std::vector<bool>(symbols.size())};
  parallel(symbols.size(), [&](size_t i) {
    if (!symbols[i].jump && !is_fragment(symbols[i].name)) names.all[i] = name_of(symbols[i].name);
  });
  return names;
}

// As people call them; of Fortran and Ada by debug information.
Names people_names(Module& file) {
  const std::vector<Symbol>& symbols = file.symbols().functions;
  Names names = names_of(symbols, person_name);
  for (size_t i = 0; i < symbols.size(); i++) {
    std::string name = file.foreign_name(symbols[i].name, symbols[i].address);
    if (name.empty() || names.all[i].empty()) continue;
    names.dotted[i] = name.find("::") == std::string::npos;
    names.all[i] = std::move(name);
  }
  return names;
}

struct Shared {
  std::set<std::string> several;  // names that functions at several addresses have
  std::set<std::string> nested;   // of these, what is a whole name and the end of another
};

Shared shared(const std::set<std::string>& asked, const std::vector<Symbol>& symbols,
              const Names& names) {
  std::unordered_map<std::string, uint64_t> first;
  Shared result;
  for (size_t i = 0; i < symbols.size(); i++) {
    for (const std::string& name : names_for(names.all[i], names.dotted[i])) {
      if (!asked.contains(name)) continue;
      const auto [known, fresh] = first.emplace(name, symbols[i].address);
      if (!fresh && known->second != symbols[i].address) result.several.insert(name);
      if (name != names.all[i]) result.nested.insert(name);
    }
  }
  return result;
}

// Symbols of Rust do not always tell instances of generic functions, nor implementations of traits.
std::string name_of(const Site& site, Module& file) {
  const bool rust = is_rust(site.symbol) && file.debug_info();
  const std::string name = rust ? file.debug_info()->name(site.function_begin) : "";
  return name.empty() ? whole_name(site.symbol) : name;
}

void distinguish_in(Module& file, const std::vector<Site*>& sites) {
  const std::vector<Symbol>& symbols = file.symbols().functions;
  std::set<std::string> asked;
  for (const Site* site : sites) asked.insert(site->function);
  const Shared people = shared(asked, symbols, people_names(file));
  if (people.several.empty()) return;
  std::set<std::string> renamed;
  for (Site* site : sites) {
    const bool is_one_of_several = people.several.contains(site->function);
    // The only name that gdb, too, takes for this one alone.
    if (is_one_of_several && site->scope == 0 &&
        !file.foreign_name(site->symbol, site->function_begin).empty()) {
      site->function = site->symbol;
    } else if (is_one_of_several && is_mangled(site->symbol))
      renamed.insert(site->function = name_of(*site, file));
  }
  const Shared whole = shared(renamed, symbols, names_of(symbols, whole_name));
  for (Site* site : sites) {
    const Shared& its = is_mangled(site->symbol) ? whole : people;
    if (its.several.contains(site->function) && its.nested.contains(site->function))
      site->function.insert(0, "::");
  }
}

}  // namespace

void distinguish(std::span<Site> sites, ModuleSet& modules) {
  std::unordered_map<size_t, std::vector<Site*>> by_module;
  for (Site& site : sites) by_module[size_t(site.module)].push_back(&site);
  for (const auto& [module, its] : by_module) distinguish_in(*modules.open(module), its);
}

}  // namespace dj
