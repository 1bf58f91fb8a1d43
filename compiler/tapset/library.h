// SPDX-License-Identifier: Apache-2.0
// Tapsets: folders of files with aliases, functions and macros. A folder is scanned for the names
// that its files define; only files that a script needs are read, and of these only the items that
// it needs are parsed.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"
#include "compiler/tapset/items.h"
#include "compiler/tapset/own_names.h"

namespace dj {

// Runs a tapset file in Lua; the file of `sources` with the text that it wrote, none when it
// failed.
using RunLuaTapset =
    std::function<std::optional<uint32_t>(uint32_t file, const std::string& family, Diags& diags)>;

// The folders to search, in order of preference.
struct TapsetFolders {
  std::vector<std::string> paths;
  std::string lack;  // why djtap's own tapsets are none of them; empty: they are, or are not wanted
  bool are_given = false;  // some of them, by -I
};

// Those of `given` (-I), each behind its folders for this kernel and this machine ("6.1/x86_64",
// "6.1", "x86_64"); then djtap's own (own_data.h).
TapsetFolders tapset_folders(const std::vector<std::string>& given);

class TapsetLibrary {
 public:
  // Folders that do not exist are passed over. Without `run_lua`, files in Lua are too.
  TapsetLibrary(Sources& sources, TapsetFolders folders, RunLuaTapset run_lua = nullptr);

  // The file of `sources` that defines this macro (in a *.djtm or *.stpm file), read now if it was
  // not; nullopt: no file does. For ParseOptions::macro_file.
  std::optional<uint32_t> macro_file(const std::string& macro);

  // Adds to the script what it uses and does not define, and what that uses, and so on. An error
  // where it uses such things and djtap's own tapsets are missing.
  void complete(ast::Script& script, Diags& diags);

  // Forgets what complete() has given to scripts, so that it gives all of it again.
  void forget_given() {
    wanted_.clear();
    merged_.clear();
  }

  // Adds to the script an empty probe for each alias name in the folders that `point` means: also
  // where the point begins with a wildcard, for which complete() reads no file.
  void add_names(const ast::ProbePoint& point, ast::Script& script);

  // Whether djtap's own tapsets were looked into and are missing: what was not found may be theirs.
  bool lacks_own() const { return scanned_ && !folders_.lack.empty(); }
  void report_lack(Diags& diags) const;  // where it does

  // How many tapset files were read so far; for -v.
  size_t files_read() const { return read_.size(); }

 private:
  struct File {
    std::string path;
    std::vector<ast::ProbePoint> aliases;  // names only, without spans
    // Of a file in Lua, which is named after it: ssl.lua gives probes ssl.* and functions ssl_*.
    std::string family;
    // Of a file with nothing but globals, its name: they are of the macros @NAME... (this.djt).
    std::string of_macros = {};
    bool printers = false;  // it has printers of types, and is needed where values are texts
  };
  void scan();
  void scan_file(const std::string& path);
  void scan_globals(const std::string& text, size_t at, size_t file);
  // Reports points that begin as aliases do and are none of them: syscall.opne.
  void refuse_unknown(const ast::Script& script, Diags& diags) const;
  // The aliases, of the folders and the script, whose names begin with this word.
  std::vector<ast::ProbePoint> aliases_of(const std::string& first,
                                          const ast::Script& script) const;
  void wanted_files(const ast::Script& script, std::vector<size_t>& out) const;
  // A file that the script needs.
  struct Merged {
    uint32_t text = 0;  // its number in sources_
    std::string name;
    std::vector<TapsetItem> items;  // not parsed so far
    PrivateNames private_names;
    std::vector<ast::FunctionDecl> functions;  // parsed, and not used so far
    std::vector<ast::Alias> aliases;
  };
  // Reads the file: what is for all of it becomes part of the script.
  void merge(size_t file, ast::Script& script, Diags& diags);
  // Parses the items; what they define waits in `file`, globals and probes become the script's.
  void parse_items(Merged& file, const std::vector<TapsetItem>& items, ast::Script& script,
                   Diags& diags);
  // Moves what the script uses by now from merged files into it; false: nothing.
  bool take_used(ast::Script& script, Diags& diags);
  uint32_t read(const std::string& path);

  std::optional<uint32_t> text_of(const File& file, Diags& diags);

  Sources& sources_;
  TapsetFolders folders_;
  RunLuaTapset run_lua_;
  bool scanned_ = false;
  std::vector<File> files_;
  // Where names are defined in the folders.
  struct Names {
    std::unordered_map<std::string, size_t> functions;    // to the index in files_
    std::unordered_map<std::string, size_t> globals;      // to the same; without private ones
    std::unordered_map<std::string, std::string> macros;  // to the path
  } names_;
  std::unordered_map<std::string, uint32_t> read_;  // path to its number in sources_
  std::unordered_set<size_t> wanted_;               // indices in files_ of merged_
  std::vector<Merged> merged_;
  std::set<std::string> macros_used_;
  std::set<std::string> shared_;  // globals of the merged files
};

}  // namespace dj
