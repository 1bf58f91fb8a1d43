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
// left out.
std::vector<std::string> names_for(const std::string& name) {
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

using Names = std::vector<std::string>;  // of the symbols, by their index

Names names_of(const std::vector<Symbol>& symbols, std::string (*name_of)(std::string_view)) {
  Names names(symbols.size());
  parallel(symbols.size(), [&](size_t i) {
    if (!symbols[i].jump && !is_fragment(symbols[i].name)) names[i] = name_of(symbols[i].name);
  });
  return names;
}

// The names among `asked` that functions at several addresses have.
std::set<std::string> shared(const std::set<std::string>& asked, const std::vector<Symbol>& symbols,
                             const Names& names) {
  std::unordered_map<std::string, uint64_t> first;
  std::set<std::string> several;
  for (size_t i = 0; i < symbols.size(); i++) {
    for (const std::string& name : names_for(names[i])) {
      if (!asked.contains(name)) continue;
      const auto [known, fresh] = first.emplace(name, symbols[i].address);
      if (!fresh && known->second != symbols[i].address) several.insert(name);
    }
  }
  return several;
}

// Symbols of Rust do not always tell instances of generic functions, nor implementations of traits.
std::string name_of(const Site& site, Module& file) {
  const bool rust = is_rust(site.symbol) && file.debug_info();
  const std::string name = rust ? file.debug_info()->name(site.function_begin) : "";
  return name.empty() ? whole_name(site.symbol) : name;
}

void tell_apart_in(Module& file, const std::vector<Site*>& sites) {
  const std::vector<Symbol>& symbols = file.symbols().functions;
  const auto rename_shared = [&](std::string (*name_of)(std::string_view), auto rename) {
    std::set<std::string> asked;
    for (const Site* site : sites) asked.insert(site->function);
    const std::set<std::string> several = shared(asked, symbols, names_of(symbols, name_of));
    for (Site* site : sites)
      if (several.contains(site->function) && is_mangled(site->symbol)) rename(*site);
    return !several.empty();
  };
  const bool any =
      rename_shared(person_name, [&](Site& site) { site.function = name_of(site, file); });
  if (any) rename_shared(whole_name, [](Site& site) { site.function.insert(0, "::"); });
}

}  // namespace

void tell_apart(std::span<Site> sites, ModuleSet& modules) {
  std::unordered_map<size_t, std::vector<Site*>> by_module;
  for (Site& site : sites) by_module[size_t(site.module)].push_back(&site);
  for (const auto& [module, its] : by_module) tell_apart_in(*modules.open(module), its);
}

}  // namespace dj
