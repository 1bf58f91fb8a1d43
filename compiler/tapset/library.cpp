// SPDX-License-Identifier: Apache-2.0
// Finds and reads tapset files.
#include "compiler/tapset/library.h"

#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/base/own_data.h"
#include "compiler/parse/parse.h"
#include "compiler/stages/print_ast.h"
#include "compiler/tapset/aliases.h"
#include "compiler/tapset/names_used.h"

namespace dj {

namespace fs = std::filesystem;

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_tapset(const fs::path& path) {
  std::string end = path.extension();
  return end == ".djt" || end == ".stp" || end == ".djtm" || end == ".stpm";
}

// Words that cannot begin an alias's use: they are djtap's own points, and need no folder scanned.
bool is_own_point(const ast::ProbePoint& point) {
  const std::string& first = point.components.front().name;
  for (const char* own : {"begin", "end", "error", "never", "oneshot", "timer", "func", "kernel"}) {
    if (first == own) return true;
  }
  if (first == "input")
    return point.components.size() == 1;  // input.char and input.line are aliases
  return first == "process" && point.components.size() > 1 &&
         point.components.front().argument.index() != 0;
}

// The next identifier of `text` from `at` on; leaves `at` behind it.
std::string next_word(std::string_view text, size_t& at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  size_t begin = at;
  while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                              text[at] == '_' || text[at] == '.')) {
    ++at;
  }
  return std::string(text.substr(begin, at - begin));
}

ast::ProbePoint dotted(const std::string& name) {
  ast::ProbePoint point;
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '.');) {
    point.components.emplace_back().name = part;
  }
  return point;
}

// What a wildcard point asks for must not pull in every file: "*" and "**" name nothing.
bool names_family(const ast::ProbePoint& point) {
  return point.components.size() > 1 ||
         point.components.front().name.find_first_not_of('*') != std::string::npos;
}

// Of the definition behind `probe`; none where it is a probe of the file's own: process.end { ... }
std::vector<ast::ProbePoint> alias_names(std::string_view text, size_t at) {
  std::vector<ast::ProbePoint> names;
  for (char end = ','; end == ',';) {
    names.push_back(dotted(next_word(text, at)));
    at = text.find_first_not_of(" \t\r\n", at);
    end = at < text.size() ? text[at++] : '\0';
    if (end != ',' && end != '=' && end != '+') return {};
    at = end == ',' ? std::min(text.find_first_not_of(" \t\r\n", at), text.size()) : at;
  }
  return names;
}

ast::ProbePoint first_of(const ast::ProbePoint& point) {
  return dotted(point.components.front().name);
}

template <typename T>
void move_all(std::vector<T>&& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// In their order; the others stay.
template <typename T, typename Predicate>
void move_those(std::vector<T>& from, std::vector<T>& to, Predicate wanted) {
  auto rest = std::stable_partition(from.begin(), from.end(), wanted);
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(rest));
  from.erase(from.begin(), rest);
}

// Those that `spelled` may be meant to be. The first component, which they share, is not compared.
std::vector<std::string> near_aliases(const std::string& first, const std::string& spelled,
                                      const std::vector<ast::ProbePoint>& aliases) {
  const size_t shared = spelled.starts_with(first + ".") ? first.size() + 1 : 0;
  std::vector<std::string> known;
  for (const ast::ProbePoint& name : aliases) {
    const std::string text = print(name);
    known.push_back(text.substr(std::min(shared, text.size())));
  }
  std::vector<std::string> near = near_names(spelled.substr(shared), known);
  for (std::string& name : near) name.insert(0, spelled, 0, shared);
  return near;
}

// What may stand behind a tapset folder, from the most special to the folder itself.
std::vector<std::string> special_folders() {
  utsname host = {};
  uname(&host);
  const std::string release = host.release;
  const std::string version = release.substr(0, release.find_first_not_of("0123456789."));
  const size_t dot = version.find('.');
  const std::string family =
      version.substr(0, dot == std::string::npos ? dot : version.find('.', dot + 1));
  std::vector<std::string> found;
  for (const std::string& kernel : {release, version, family}) {
    const std::string folder = "/" + kernel;
    if (std::find(found.begin(), found.end(), folder) != found.end()) continue;
    found.push_back(folder + "/" + host.machine);
    found.push_back(folder);
  }
  found.push_back(std::string("/") + host.machine);
  found.emplace_back();
  return found;
}

}  // namespace

TapsetFolders tapset_folders(const std::vector<std::string>& given) {
  TapsetFolders folders;
  folders.are_given = !given.empty();
  for (const std::string& folder : given) {
    for (const std::string& behind : special_folders()) folders.paths.push_back(folder + behind);
  }
  const Result<std::string>& own = own_tapsets();
  if (own.ok()) {
    folders.paths.push_back(own.value());
  } else {
    folders.lack = own.error().message;
  }
  return folders;
}

TapsetLibrary::TapsetLibrary(Sources& sources, TapsetFolders folders, RunLuaTapset run_lua)
    : sources_(sources), folders_(std::move(folders)), run_lua_(std::move(run_lua)) {}

// a, b[100], c%[2] = "x"
void TapsetLibrary::scan_globals(const std::string& text, size_t at, size_t file) {
  for (;;) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    const std::string name = next_word(text, at);
    if (name.empty()) return;
    names_.globals.emplace(name, file);
    for (bool quoted = false; at < text.size() && (quoted || text[at] != ','); ++at) {
      if (text[at] == '\n' || (text[at] == ';' && !quoted)) return;
      if (text[at] == '"') quoted = !quoted;
    }
    ++at;
  }
}

void TapsetLibrary::scan() {
  if (scanned_) return;
  scanned_ = true;
  for (const std::string& folder : folders_.paths) {
    std::error_code error;
    std::vector<std::string> paths;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (is_tapset(entry.path()) || (run_lua_ && entry.path().extension() == ".lua"))
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) scan_file(path);
  }
}

// Looks at line beginnings only: an alias, function or macro that others may use begins a line.
void TapsetLibrary::scan_file(const std::string& path) {
  if (path.ends_with(".lua")) {
    std::string family = fs::path(path).stem();
    bool printers = read_text(path).find("dj.printer(") != std::string::npos;
    files_.push_back({path, {dotted(family)}, family, {}, printers});
    return;
  }
  std::string text = read_text(path);
  bool macros = path.ends_with("m");
  size_t index = files_.size();
  files_.push_back({path, {}, {}});
  bool only_globals = !macros;
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    if (macros && text.compare(at, 7, "@define") == 0) {
      at += 7;
      names_.macros.emplace(next_word(text, at), path);
      continue;
    }
    size_t begin = at;
    std::string word = next_word(text, begin);
    only_globals = only_globals && word != "function" && word != "probe" && word != "private";
    if (!macros && word == "function") {
      names_.functions.emplace(next_word(text, begin), index);
    } else if (!macros && word == "global") {
      scan_globals(text, begin, index);
    } else if (!macros && word == "probe") {
      move_all(alias_names(text, begin), files_[index].aliases);
    }
  }
  if (only_globals) files_[index].of_macros = fs::path(path).stem();
}

uint32_t TapsetLibrary::read(const std::string& path) {
  auto known = read_.find(path);
  if (known != read_.end()) return known->second;
  uint32_t file = sources_.add(path, read_text(path));
  read_.emplace(path, file);
  return file;
}

std::optional<uint32_t> TapsetLibrary::macro_file(const std::string& macro) {
  scan();
  auto known = names_.macros.find(macro);
  if (known == names_.macros.end()) return std::nullopt;
  macros_used_.insert(macro);
  return read(known->second);
}

void TapsetLibrary::wanted_files(const ast::Script& script, std::vector<size_t>& out) const {
  NamesUsed used = names_used(script);
  for (size_t i = 0; i < files_.size(); ++i) {
    if (used.texts && files_[i].printers) out.push_back(i);
    const std::string& name = files_[i].of_macros;
    const auto macro = macros_used_.lower_bound(name);
    if (!name.empty() && macro != macros_used_.end() && macro->starts_with(name)) out.push_back(i);
  }
  for (const std::string& name : used.functions) {
    auto found = names_.functions.find(name);
    if (found != names_.functions.end()) {
      out.push_back(found->second);
      continue;
    }
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!files_[i].family.empty() && name.starts_with(files_[i].family + "_")) out.push_back(i);
    }
  }
  auto add = [&out](const auto& known, const std::string& name) {
    if (auto found = known.find(name); found != known.end()) out.push_back(found->second);
  };
  for (const auto& [name, params] : used.continued) add(names_.functions, name);
  for (const std::string& name : used.variables) add(names_.globals, name);
  for (const ast::ProbePoint* point : used.points) {
    if (is_own_point(*point) || !names_family(*point)) continue;
    for (size_t i = 0; i < files_.size(); ++i) {
      size_t parts = 0;
      bool wanted = std::any_of(
          files_[i].aliases.begin(), files_[i].aliases.end(), [&](const ast::ProbePoint& name) {
            if (is_own_point(name)) return false;  // a probe of the file's own: begin { ... }
            return uses_alias(files_[i].family.empty() ? *point : first_of(*point), name, parts);
          });
      if (wanted) out.push_back(i);
    }
  }
}

std::optional<uint32_t> TapsetLibrary::text_of(const File& file, Diags& diags) {
  uint32_t own = read(file.path);
  return file.family.empty() ? own : run_lua_(own, file.family, diags);
}

void TapsetLibrary::merge(size_t index, ast::Script& script, Diags& diags) {
  std::optional<uint32_t> text = text_of(files_[index], diags);
  if (!text || sources_.files[*text].text.empty()) return;
  Merged& file = merged_.emplace_back();
  file.text = *text;
  file.name = fs::path(files_[index].path).filename();
  file.items = items_of(sources_.files[*text].text);
  for (const TapsetItem& item : file.items) {
    if (item.is_private) file.private_names.functions.insert(item.function);
  }
  std::vector<TapsetItem> for_all;
  move_those(file.items, for_all, [](const TapsetItem& item) { return item.is_for_all(); });
  parse_items(file, for_all, script, diags);
}

void TapsetLibrary::parse_items(Merged& file, const std::vector<TapsetItem>& items,
                                ast::Script& script, Diags& diags) {
  if (items.empty()) return;
  ParseOptions options;
  options.macro_file = [this](const std::string& macro) { return macro_file(macro); };
  for (const TapsetItem& item : items) options.parts.push_back(item.part);
  ast::Script parsed = parse(sources_, file.text, options, diags);
  hide_private_names(parsed, file.name, file.private_names);
  for (const ast::GlobalDecl& global : parsed.globals) shared_.insert(global.name);
  move_all(std::move(parsed.globals), script.globals);
  // Probes of a tapset that are no aliases serve its functions: begin { table[1] = "x" }.
  move_all(std::move(parsed.probes), script.probes);
  move_all(std::move(parsed.functions), file.functions);
  move_all(std::move(parsed.aliases), file.aliases);
}

// A function of the script hides the files' functions of that name, unless it goes on to them by
// `next`; a file may overload its own.
bool TapsetLibrary::take_used(ast::Script& script, Diags& diags) {
  NamesUsed used = names_used(script);
  size_t parts = 0;
  // An alias hands what follows its name on to its points (.return).
  auto meets = [&](size_t point, const ast::ProbePoint& name) {
    const ast::ProbePoint& used_point = *used.points[point];
    return uses_alias(used_point, name, parts) ||
           (point >= used.whole && uses_alias(name, used_point, parts));
  };
  auto names = [&](const ast::ProbePoint& name) {
    for (size_t i = 0; i < used.points.size(); ++i) {
      if (meets(i, name)) return true;
    }
    return false;
  };
  auto follows = [&](const ast::FunctionDecl& function) {
    return used.continued.contains({function.name, function.params.size()});
  };
  ast::Script taken;
  for (Merged& file : merged_) {
    auto calls = [&](const std::string& name) { return used.functions.contains(name); };
    auto may_follow = [&](const std::string& name) {
      const auto found = used.continued.lower_bound({name, 0});
      return found != used.continued.end() && found->first == name;
    };
    std::vector<TapsetItem> items;
    move_those(file.items, items, [&](const TapsetItem& item) {
      return calls(item.is_private ? hidden_name(item.function, file.name) : item.function) ||
             may_follow(item.function) ||
             std::any_of(item.aliases.begin(), item.aliases.end(),
                         [&](const std::string& name) { return names(dotted(name)); });
    });
    parse_items(file, items, taken, diags);
    move_those(file.functions, taken.functions, [&](const ast::FunctionDecl& function) {
      return calls(function.name) || follows(function);
    });
    move_those(file.aliases, taken.aliases, [&](const ast::Alias& alias) {
      return std::any_of(alias.names.begin(), alias.names.end(), names);
    });
    for (const ast::FunctionDecl& function : taken.functions) used.functions.erase(function.name);
  }
  for (ast::FunctionDecl& function : taken.functions) {
    if (follows(function) && !function.priority) function.priority = 1;  // the script's have 0
  }
  const bool more = !taken.functions.empty() || !taken.aliases.empty();
  move_all(std::move(taken.globals), script.globals);
  move_all(std::move(taken.probes), script.probes);
  move_all(std::move(taken.functions), script.functions);
  move_all(std::move(taken.aliases), script.aliases);
  return more;
}

void TapsetLibrary::add_names(const ast::ProbePoint& point, ast::Script& script) {
  scan();
  for (const File& file : files_) {
    for (const ast::ProbePoint& name : file.aliases) {
      size_t used = 0;
      if (!file.family.empty() || is_own_point(name) || !uses_alias(point, name, used)) continue;
      ast::Probe& probe = script.probes.emplace_back();
      probe.points = {name};
      probe.body = std::make_unique<ast::Stmt>();
    }
  }
}

std::vector<ast::ProbePoint> TapsetLibrary::aliases_of(const std::string& first,
                                                       const ast::Script& script) const {
  std::vector<ast::ProbePoint> names;
  auto add = [&](const std::vector<ast::ProbePoint>& from) {
    for (const ast::ProbePoint& name : from) {
      if (name.components.front().name == first && !is_own_point(name)) names.push_back(name);
    }
  };
  for (const File& file : files_) add(file.aliases);
  for (const ast::Alias& alias : script.aliases) add(alias.names);
  return names;
}

void TapsetLibrary::refuse_unknown(const ast::Script& script, Diags& diags) const {
  for (const ast::Probe& probe : script.probes) {
    for (const ast::ProbePoint& point : probe.points) {
      const std::string& first = point.components.front().name;
      const bool in_lua = std::any_of(files_.begin(), files_.end(),
                                      [&](const File& file) { return file.family == first; });
      ast::ProbePoint bare = point;
      bare.condition = nullptr;
      const std::string spelled = print(bare);
      if (is_own_point(point) || point.optional || point.sufficient || in_lua ||
          first == "process" || spelled.find('*') != std::string::npos)
        continue;
      const std::vector<ast::ProbePoint> aliases = aliases_of(first, script);
      size_t used = 0;
      if (aliases.empty() || std::any_of(aliases.begin(), aliases.end(), [&](const auto& name) {
            return uses_alias(point, name, used);
          }))
        continue;
      Diag& diag = diags.error("DJ3001", point.span, "there is no probe point \"" + spelled + "\"");
      diag.notes.push_back("list with: djtap -l '" + first + ".*'");
      diag.suggest(near_aliases(first, spelled, aliases));
    }
  }
}

void TapsetLibrary::report_lack(Diags& diags) const {
  if (lacks_own()) diags.error("DJ5013", {}, folders_.lack).no_span = true;
}

void TapsetLibrary::complete(ast::Script& script, Diags& diags) {
  NamesUsed used = names_used(script);
  bool needed = !used.functions.empty() || used.texts || !macros_used_.empty() ||
                !used.continued.empty() || (folders_.are_given && !used.variables.empty()) ||
                std::any_of(used.points.begin(), used.points.end(),
                            [](const ast::ProbePoint* point) { return !is_own_point(*point); });
  if (!needed) return;
  scan();
  if (lacks_own()) return report_lack(diags);
  size_t functions = script.functions.size(), probes = script.probes.size();
  for (bool more = true; more && diags.ok();) {
    more = false;
    std::vector<size_t> wanted;
    wanted_files(script, wanted);
    for (size_t file : wanted) {
      if (diags.ok() && wanted_.insert(file).second) {
        merge(file, script, diags);
        more = true;
      }
    }
    more = take_used(script, diags) || more;
  }
  part_locals(script, functions, probes, shared_);
  refuse_unknown(script, diags);
}

}  // namespace dj
