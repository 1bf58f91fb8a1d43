// SPDX-License-Identifier: Apache-2.0
// Which objects are searched, how sites are made, and the order of the two searches.
#include "compiler/resolve/site_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/object_point.h"
#include "compiler/base/parallel.h"

namespace dj {

namespace {

struct Refusal {
  std::string_view pattern;
  const char* reason;
  std::string_view begin = pattern.substr(0, pattern.find_first_of("*?["));  // quick to ask first
};

constexpr Refusal kSymbols[] = {
#define DJ_REFUSE_SYMBOL(name, why) {.pattern = name, .reason = why},
#define DJ_REFUSE_SECTION(pattern, reason)
#include "compiler/resolve/blacklist.def"
#undef DJ_REFUSE_SYMBOL
#undef DJ_REFUSE_SECTION
};
constexpr Refusal kSections[] = {
#define DJ_REFUSE_SYMBOL(pattern, reason)
#define DJ_REFUSE_SECTION(name, why) {.pattern = name, .reason = why},
#include "compiler/resolve/blacklist.def"
#undef DJ_REFUSE_SYMBOL
#undef DJ_REFUSE_SECTION
};

std::vector<size_t> all_of(const ModuleSet& modules) {
  std::vector<size_t> all(modules.size());
  for (size_t i = 0; i < all.size(); i++) {
    all[i] = i;
  }
  return all;
}

std::vector<size_t> no_target(PointQuery& query) {
  query.diags.error("DJ3006", query.point.span, "no process is traced").help = kTraceSomething;
  return {};
}

// Where no process tells what it has mapped.
std::vector<size_t> installed_library(PointQuery& query, const std::string& name, Span span) {
  const std::optional<size_t> found = query.modules.later_library(name);
  if (found) return {*found};
  query.diags.error("DJ3005", span, fmt::format("there is no library \"{}\"", name)).help =
      kTraceSomething;
  return {};
}

// The kernel, or the modules that the point names.
std::vector<size_t> kernel_objects(PointQuery& query, const FunctionPattern& pattern, Span span) {
  const ast::Component* module = query.component("module");
  if (module == nullptr && pattern.object.empty()) return {0};
  const std::string name = module != nullptr ? query.text(*module) : pattern.object;
  std::vector<size_t> objects = query.modules.named(listed_module(name), 1);
  if (!objects.empty() || query.optional) return objects;
  Diag& d = query.diags.error("DJ3005", module != nullptr ? module->argument_span : span,
                              fmt::format("the kernel has no module \"{}\" loaded", name));
  d.help = "lsmod lists those that are";
  return {};
}

std::vector<size_t> named_objects(PointQuery& query, const std::string& name, size_t from,
                                  Span span) {
  std::vector<size_t> objects = query.modules.named(name, from);
  if (!objects.empty() || query.optional) {
    return objects;
  }
  if (means_vdso(name)) {
    report_vdso(name, span, query.diags);
    return objects;
  }
  if (const std::optional<size_t> later = query.modules.later_library(name)) {
    if (query.modules.has_target())
      query.diags.warning(
          "DJ3005", span,
          fmt::format("no process has mapped \"{}\" yet: the probe waits for one that does", name));
    return {*later};
  }
  const bool may_come = !query.modules.has_target() || query.modules.loader().has_value();
  if (has_wildcard(name) && may_come) {
    query.diags.warning(
        "DJ3005", span,
        fmt::format("no object \"{}\" is mapped yet: the probe waits for one", name));
    return objects;
  }
  std::vector<std::string> names;
  std::string loaded;
  for (size_t i = from; i < query.modules.size(); i++) {
    names.push_back(query.modules.base_name(i));
    loaded += (loaded.empty() ? "" : ", ") + names.back();
  }
  Diag& d = query.diags.error("DJ3005", span,
                              fmt::format("the traced process has no object \"{}\"", name));
  d.notes.push_back("its objects: " + (loaded.empty() ? "none" : loaded));
  if (!may_come) {
    d.notes.push_back("the program is static: it has no loader that tells of objects");
    return objects;
  }
  d.suggest(near_names(name, names));
  if (d.help.empty()) {
    d.help = "if the program opens it later, say so by a wildcard or a '?' behind the point";
  }
  return {};
}

}  // namespace

const char* refusal(const ObjectFile& elf, std::string_view symbol, uint64_t address) {
  for (const Refusal& r : kSymbols) {
    if (symbol.starts_with(r.begin) && glob_match(r.pattern, symbol)) {
      return r.reason;
    }
  }
  const Section* section = elf.code_section(address);
  for (const Refusal& r : kSections) {
    if (section && glob_match(r.pattern, section->name)) {
      return r.reason;
    }
  }
  return nullptr;
}

bool searches_other_program(const PointQuery& query) {
  constexpr std::string_view kInOtherObjects[] = {"library", "thread", "syscall", "absolute"};
  const ast::Component& process = query.point.components.front();
  const auto* name = std::get_if<std::string>(&process.argument);
  if (process.name != "process" || name == nullptr) return false;
  if (std::ranges::none_of(kInOtherObjects,
                           [&](std::string_view each) { return query.component(each) != nullptr; }))
    return false;
  Diags hidden;  // the search reports a file that is not there
  const std::vector<size_t> objects = query.modules.process(*name, process.argument_span, hidden);
  return !objects.empty() && !query.modules.has_one_of(objects);
}

std::vector<size_t> searched_objects(PointQuery& query, const FunctionPattern& pattern, Span span) {
  if (query.modules.is_kernel() && query.point.components[0].name != "process")
    return kernel_objects(query, pattern, span);
  const ast::Component* process = query.component("process");
  const ast::Component* library = query.component("library");
  const bool named_process = process && std::holds_alternative<std::string>(process->argument);
  const std::string& named = library ? query.text(*library) : pattern.object;
  if (!query.modules.has_target() && !named_process) {
    const bool is_exact = !named.empty() && !has_wildcard(named);
    return is_exact ? installed_library(query, named, span) : no_target(query);
  }
  std::vector<size_t> objects;
  query.may_wait = query.modules.has_target() && has_wildcard(named);
  if (named_process) {
    Diags hidden;
    objects = query.modules.process(query.text(*process), process->argument_span,
                                    query.optional ? hidden : query.diags);
    if (objects.empty()) {
      return {};
    }
  } else if (process) {
    objects = {0};
  } else {
    objects = all_of(query.modules);
  }
  if (library) {
    return named_objects(query, query.text(*library), 1, library->argument_span);
  }
  if (!pattern.object.empty()) {
    return named_objects(query, pattern.object, 0, span);
  }
  return objects;
}

Site function_site(size_t module, const Module& file, const CodeFunction& function, SiteKind kind) {
  Site site;
  site.module = ModuleId(module);
  site.kind = kind;
  site.address = kind == SiteKind::Return ? function.begin : file.entry_of(function.begin);
  site.function_begin = function.begin;
  site.function_end = function.end;
  site.symbol = function.symbol;
  return site;
}

std::optional<Site> inner_site(size_t module, Module& file, uint64_t address, SearchTally& tally) {
  const std::optional<CodeFunction> holder = file.function_at(address);
  if (!holder) {
    return std::nullopt;
  }
  if (const char* reason = refusal(file.elf(), holder->symbol, holder->begin)) {
    tally.refused.push_back(fmt::format("{}: {}", file.name_of(*holder), reason));
    return std::nullopt;
  }
  Site site = function_site(module, file, *holder, SiteKind::Statement);
  site.address = std::max(address, site.address);  // not before the endbr64
  return site;
}

std::string function_of(const Site& site) {
  return site.function.empty() ? person_name(site.symbol) : site.function;
}

void name_functions(std::span<Site> sites, const std::function<Module&(ModuleId)>& module_of) {
  for (Site& site : sites) {
    if (site.function.empty())
      site.function = module_of(site.module).foreign_name(site.symbol, site.function_begin);
  }
  parallel(sites.size(), [&](size_t i) { sites[i].function = function_of(sites[i]); });
}

namespace {

// The patterns of a list of lines: "f@t.c:12,14-15" means "f@t.c:12" and "f@t.c:14-15".
std::vector<std::string> each_line(const std::string& text) {
  const size_t colon = text.rfind(':');
  const bool has_lines = colon != std::string::npos && text.find('@') < colon &&
                         text.find_first_not_of("0123456789,-", colon + 1) == std::string::npos;
  if (!has_lines) {
    return {text};
  }
  std::vector<std::string> patterns;
  for (size_t begin = colon + 1; begin != 0;) {
    const size_t comma = text.find(',', begin);
    patterns.push_back(text.substr(0, colon + 1) + text.substr(begin, comma - begin));
    begin = comma + 1;  // 0 behind the last
  }
  return patterns;
}

// A function has the name as it stands: so "f(char*)" is no wildcard, and "A::get()" is not what
// A::get() const is called.
bool names_itself(PointQuery& query, const FunctionPattern& pattern,
                  const std::vector<size_t>& objects) {
  if (!pattern.matcher().may_be_exact()) return false;
  const NameMatcher exact(pattern.name, Spelling::Exact);
  return std::any_of(objects.begin(), objects.end(), [&](size_t i) {
    Module* file = query.modules.open(i);
    return file && !file->find(exact).functions.empty();
  });
}

bool names_an_object(PointQuery& query, const FunctionPattern& pattern) {
  return !pattern.object.empty() || query.component("process") != nullptr;
}

// A wildcard means what it matches in an object that is named, or in the program itself. What is
// tried, '?', may as well be missing.
void fetch_for_wildcard(PointQuery& query, const FunctionPattern& pattern,
                        const std::vector<size_t>& objects) {
  const bool is_dlopened = query.modules.first_new() > 0;  // nobody waits
  if (!pattern.is_wild() || (query.point.optional && !is_dlopened)) return;
  const bool is_named = names_an_object(query, pattern);
  for (size_t i : objects) {
    if (Module* file = is_named || i == 0 ? query.modules.open(i) : nullptr) file->fetch_symbols();
  }
}

// One pattern of the argument, in all objects. Whether something was found.
bool find_pattern(PointQuery& query, FunctionPattern pattern, Span span, const SearchObject& search,
                  PointMeaning& meaning) {
  const size_t errors = query.diags.error_count();
  std::vector<size_t> objects = searched_objects(query, pattern, span);
  std::erase_if(objects, [&](size_t i) { return i < query.modules.first_new(); });
  if (query.diags.error_count() != errors || objects.empty()) {
    return false;
  }
  fetch_for_wildcard(query, pattern, objects);
  if (names_itself(query, pattern, objects)) pattern.spelling = Spelling::Exact;
  SearchTally tally;
  std::vector<Site> sites;
  const auto search_all = [&](SearchTally& counts) {
    for (size_t i : objects) {
      if (Module* file = query.modules.open(i)) search(i, *file, pattern, sites, counts);
    }
  };
  search_all(tally);
  if (sites.empty() && pattern.spelling == Spelling::Usual && pattern.name != "*") {
    FunctionPattern usual = pattern;
    SearchTally foreign;
    pattern.spelling = Spelling::Foreign;
    search_all(foreign);
    pattern = std::move(usual);
  }
  // What the program opens later is asked for where the script means that object: elsewhere the
  // name may be another's, and '?' says no more than that it comes later.
  const bool is_dlopened = query.modules.first_new() > 0;
  const bool may_be_there = is_dlopened ? names_an_object(query, pattern) : !query.point.optional;
  const bool is_unknown = sites.empty() && tally.ifuncs.empty() && tally.refused.empty() &&
                          tally.missing.empty() && may_be_there;
  // Another object's symbols are of no use where these have the name.
  for (size_t n = 0; n < objects.size() && is_unknown && sites.empty(); n++) {
    Module* file = query.modules.open(objects[n]);
    if (file && file->fetch_symbols()) search(objects[n], *file, pattern, sites, tally);
  }
  if (sites.empty() && !query.optional && query.may_wait) {
    query.diags.warning("DJ3004", span,
                        "nothing matches in the objects that are mapped now: the probe waits for "
                        "others");
  } else if (sites.empty() && !query.optional) {
    report_nothing(query, pattern, span, objects, tally);
  } else if (!sites.empty() && !tally.ifuncs.empty() && !pattern.is_wild()) {
    report_ifunc(query, span, objects, tally, Severity::Warning);
  }
  if (meaning.sites.empty()) {
    meaning.sites = std::move(sites);
    return !meaning.sites.empty();
  }
  meaning.sites.insert(meaning.sites.end(), std::make_move_iterator(sites.begin()),
                       std::make_move_iterator(sites.end()));
  return !sites.empty();
}

}  // namespace

bool find_in_objects(PointQuery& query, const ast::Component& argument, const SearchObject& search,
                     PointMeaning& meaning) {
  bool all = true;
  for (const std::string& text : each_line(query.text(argument))) {
    Result<FunctionPattern> parsed = parse_function_pattern(text);
    if (!parsed.ok()) {
      query.diags.error("DJ3008", argument.argument_span, parsed.error().message);
      return false;
    }
    FunctionPattern pattern = parsed.take();
    pattern.nearest = query.component("nearest") != nullptr;
    all = find_pattern(query, pattern, argument.argument_span, search, meaning) && all;
  }
  return all;
}

bool find_sites(PointQuery& query, const ast::Component& argument, SiteKind kind,
                PointMeaning& meaning) {
  auto search = [kind](size_t index, Module& file, const FunctionPattern& pattern,
                       std::vector<Site>& sites, SearchTally& tally) {
    if (pattern.line) {
      search_lines(index, file, pattern, kind, sites, tally);
    } else {
      const SiteKind whole = kind == SiteKind::Statement ? SiteKind::Entry : kind;
      search_functions(index, file, pattern, whole, sites, tally);
    }
  };
  const Result<FunctionPattern> asked =
      parse_function_pattern(each_line(query.text(argument)).front());
  if (kind != SiteKind::Statement || !asked.ok() || !asked.value().line ||
      asked.value().name == "*") {
    return find_in_objects(query, argument, search, meaning);
  }
  // Where no object has code of that name's own, it may have been inlined everywhere; to know that
  // takes all debug info of an object.
  PointQuery first{query.point, query.modules, query.diags, true};
  const size_t errors = query.diags.error_count();
  if (find_in_objects(first, argument, search, meaning) || query.diags.error_count() != errors) {
    return true;
  }
  meaning.sites.clear();
  auto search_both = [&](size_t index, Module& file, const FunctionPattern& pattern,
                         std::vector<Site>& sites, SearchTally& tally) {
    search(index, file, pattern, sites, tally);
    if (file.find(pattern.matcher()).functions.empty()) {
      search_inlined_lines(index, file, pattern, sites, tally);
    }
  };
  return find_in_objects(query, argument, search_both, meaning);
}

}  // namespace dj
