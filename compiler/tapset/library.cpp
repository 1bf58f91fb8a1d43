// Finds and reads tapset files.
#include "compiler/tapset/library.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/parse/parse.h"
#include "compiler/tapset/aliases.h"
#include "compiler/tapset/names_used.h"
#include "compiler/tapset/own_names.h"

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

// What a wildcard point asks for must not pull in every file: "*.open" alone names no family.
bool names_family(const ast::ProbePoint& point) {
  return point.components.front().name.front() != '*';
}

ast::ProbePoint first_of(const ast::ProbePoint& point) {
  return dotted(point.components.front().name);
}

template <typename T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// In their order; the others stay.
template <typename T, typename Predicate>
void move_those(std::vector<T>& from, std::vector<T>& to, Predicate wanted) {
  auto rest = std::stable_partition(from.begin(), from.end(), wanted);
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(rest));
  from.erase(from.begin(), rest);
}

}  // namespace

std::vector<std::string> tapset_folders(const std::vector<std::string>& given) {
  std::vector<std::string> folders = given;
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    fs::path home = program.parent_path();
    for (const char* beside : {"tapsets", "../tapsets", "../share/djtap/tapsets"}) {
      folders.push_back((home / beside).lexically_normal());
    }
  }
  return folders;
}

TapsetLibrary::TapsetLibrary(Sources& sources, std::vector<std::string> folders,
                             RunLuaTapset run_lua)
    : sources_(sources), folders_(std::move(folders)), run_lua_(std::move(run_lua)) {}

void TapsetLibrary::scan() {
  if (scanned_) return;
  scanned_ = true;
  for (const std::string& folder : folders_) {
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
    files_.push_back({path, {dotted(family)}, family, printers});
    return;
  }
  std::string text = read_text(path);
  bool macros = path.ends_with("m");
  size_t index = files_.size();
  files_.push_back({path, {}, {}});
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    if (macros && text.compare(at, 7, "@define") == 0) {
      at += 7;
      macros_.emplace(next_word(text, at), path);
      continue;
    }
    size_t begin = at;
    std::string word = next_word(text, begin);
    if (!macros && word == "function") {
      functions_.emplace(next_word(text, begin), index);
    } else if (!macros && word == "probe") {
      do {
        std::string name = next_word(text, begin);
        if (!name.empty()) files_[index].aliases.push_back(dotted(name));
        begin = text.find_first_not_of(" \t\n", begin);
      } while (begin < text.size() && text[begin++] == ',');
    }
  }
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
  auto known = macros_.find(macro);
  if (known == macros_.end()) return std::nullopt;
  return read(known->second);
}

void TapsetLibrary::wanted_files(const ast::Script& script, std::vector<size_t>& out) const {
  NamesUsed used = names_used(script);
  for (size_t i = 0; i < files_.size(); ++i) {
    if (used.texts && files_[i].printers) out.push_back(i);
  }
  for (const std::string& name : used.functions) {
    auto found = functions_.find(name);
    if (found != functions_.end()) {
      out.push_back(found->second);
      continue;
    }
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!files_[i].family.empty() && name.starts_with(files_[i].family + "_")) out.push_back(i);
    }
  }
  for (const ast::ProbePoint* point : used.points) {
    if (is_own_point(*point) || !names_family(*point)) continue;
    for (size_t i = 0; i < files_.size(); ++i) {
      size_t parts = 0;
      bool wanted = std::any_of(
          files_[i].aliases.begin(), files_[i].aliases.end(), [&](const ast::ProbePoint& name) {
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
  ParseOptions options;
  options.macro_file = [this](const std::string& macro) { return macro_file(macro); };
  std::optional<uint32_t> text = text_of(files_[index], diags);
  if (!text || sources_.files[*text].text.empty()) return;
  ast::Script library = parse(sources_, *text, options, diags);
  hide_private_names(library, fs::path(files_[index].path).filename());
  for (const ast::GlobalDecl& global : library.globals) shared_.insert(global.name);
  move_all(library.globals, script.globals);
  // Probes of a tapset that are no aliases serve its functions: begin { table[1] = "x" }.
  move_all(library.probes, script.probes);
  unused_.push_back(std::move(library));
}

// A function of the script hides the files' functions of that name; a file may overload its own.
bool TapsetLibrary::take_used(ast::Script& script) {
  NamesUsed used = names_used(script);
  auto calls = [&](const ast::FunctionDecl& function) {
    return used.functions.contains(function.name);
  };
  size_t parts = 0;
  // An alias hands what follows its name on to its points (.return).
  auto meets = [&](size_t point, const ast::ProbePoint& name) {
    const ast::ProbePoint& used_point = *used.points[point];
    return uses_alias(used_point, name, parts) ||
           (point >= used.whole && uses_alias(name, used_point, parts));
  };
  auto names = [&](const ast::Alias& alias) {
    for (size_t i = 0; i < used.points.size(); ++i) {
      for (const ast::ProbePoint& name : alias.names) {
        if (meets(i, name)) return true;
      }
    }
    return false;
  };
  std::vector<ast::FunctionDecl> functions;
  std::vector<ast::Alias> aliases;
  for (ast::Script& library : unused_) {
    move_those(library.functions, functions, calls);
    move_those(library.aliases, aliases, names);
    for (const ast::FunctionDecl& function : functions) used.functions.erase(function.name);
  }
  move_all(functions, script.functions);
  move_all(aliases, script.aliases);
  return !functions.empty() || !aliases.empty();
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

void TapsetLibrary::complete(ast::Script& script, Diags& diags) {
  NamesUsed used = names_used(script);
  bool needed = !used.functions.empty() || used.texts ||
                std::any_of(used.points.begin(), used.points.end(),
                            [](const ast::ProbePoint* point) { return !is_own_point(*point); });
  if (!needed) return;
  scan();
  size_t functions = script.functions.size(), probes = script.probes.size();
  for (bool more = true; more && diags.ok();) {
    more = false;
    std::vector<size_t> wanted;
    wanted_files(script, wanted);
    for (size_t file : wanted) {
      if (diags.ok() && merged_.insert(file).second) {
        merge(file, script, diags);
        more = true;
      }
    }
    more = take_used(script) || more;
  }
  part_locals(script, functions, probes, shared_);
}

}  // namespace dj
