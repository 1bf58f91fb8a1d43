// SPDX-License-Identifier: Apache-2.0
// Looks for the file in dpkg's lists, in the target's root folder. A package may list it by another
// name: through links that folders have become, or as what another package has diverted.
#include "compiler/resolve/debug_package.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/found_files.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

// The path as a package may call it: /lib, /bin and /sbin have become links to those in /usr.
std::vector<std::string> names_of(const std::string& path) {
  constexpr std::string_view kMerged[] = {"/lib/", "/lib64/", "/bin/", "/sbin/"};
  constexpr std::string_view kUsr = "/usr";
  std::vector<std::string> names = {path};
  const bool is_below = path.starts_with(kUsr);
  const std::string rest = is_below ? path.substr(kUsr.size()) : path;
  for (std::string_view folder : kMerged) {
    if (rest.starts_with(folder)) names.push_back(is_below ? rest : std::string(kUsr) + rest);
  }
  return names;
}

// Whether two names mean one file, by links among their folders.
bool is_same(const std::string& one, const std::string& other) {
  const fs::path a(one), b(other);
  if (one == other) return true;
  if (a.filename() != b.filename()) return false;
  const std::optional<FolderId> folder = found_folder_id(a.parent_path().string());
  return folder && folder == found_folder_id(b.parent_path().string());
}

// WantedFile: the file that is looked for, by all its names.
class WantedFile {
 public:
  explicit WantedFile(const std::string& path) : names_(names_of(path)) {}
  bool is(const std::string& other) const {
    return std::find(names_.begin(), names_.end(), other) != names_.end() ||
           is_same(names_.front(), other);
  }

 private:
  std::vector<std::string> names_;
};

// What the package `by` (":": the administrator) has had put elsewhere: a file of any other package
// that is called `from` lies at `to`.
struct Diversion {
  std::string from, to, by;
};

std::vector<Diversion> diversions_of(const fs::path& admin) {
  std::istringstream file(read_found_file((admin / "diversions").string()));
  std::vector<Diversion> all;
  for (Diversion d;
       std::getline(file, d.from) && std::getline(file, d.to) && std::getline(file, d.by);)
    all.push_back(d);
  return all;
}

bool has_line(const std::string& list, const std::string& line) {
  for (size_t at = list.find(line); at != std::string::npos; at = list.find(line, at + 1)) {
    const size_t end = at + line.size();
    if ((at == 0 || list[at - 1] == '\n') && (end == list.size() || list[end] == '\n')) return true;
  }
  return false;
}

// Lines that end with `end`.
std::vector<std::string> lines_with(const std::string& text, const std::string& end) {
  std::vector<std::string> lines;
  for (size_t at = text.find(end); at != std::string::npos; at = text.find(end, at + 1)) {
    const size_t behind = at + end.size();
    if (behind != text.size() && text[behind] != '\n') continue;
    const size_t begin = text.rfind('\n', at) + 1;  // of npos: 0
    lines.push_back(text.substr(begin, behind - begin));
  }
  return lines;
}

// "libc6" of "libc6:amd64.list".
std::string package_of(const fs::path& list) {
  const std::string name = list.stem().string();
  return name.substr(0, name.find(':'));
}

// Packages with debug symbols are made by debhelper, and called *-dbgsym, but for some older ones.
std::string debug_name(const std::string& package) {
  constexpr std::string_view kMinimal = "-minimal", kPython = "python3.";
  if (package == "libc6" || package == "libc6-i386" || package == "libc6-x32") return "libc6-dbg";
  const size_t python = package.find(kPython);
  if (python == std::string::npos) return package + "-dbgsym";
  const size_t end = package.find_first_not_of("0123456789", python + kPython.size());
  const std::string behind = end == std::string::npos ? "" : package.substr(end);
  const bool is_interpreter = behind.empty() || behind == kMinimal || behind == "-stdlib";
  if (package.starts_with(kPython) && is_interpreter) return package.substr(0, end) + "-dbg";
  if (package.starts_with("lib" + std::string(kPython)) && is_interpreter)
    return package.substr(0, end) + "-dbg";
  return package + "-dbgsym";
}

constexpr std::string_view kSums = ".md5sums";
constexpr size_t kSumDigits = 32, kSumBytes = kSumDigits + 2;  // and two spaces, before the path

// Owner: which package has installed a file, by which name, with which content.
struct Owner {
  std::string package, sum;
};

constexpr size_t kMostRead = size_t{1} << 30;  // dpkg's lists have some ten million bytes

// Search: looks into dpkg's lists, one a package, for one file.
class Search {
 public:
  Search(const std::string& path, const fs::path& admin)
      : wanted_(path), diversions_(diversions_of(admin)), ends_{end_of(path)} {
    for (const Diversion& d : diversions_) {
      if (d.from.starts_with('/') && wanted_.is(d.to)) ends_.insert(end_of(d.from));
    }
  }

  // list: of paths, or of sums and paths.
  std::optional<Owner> find(const fs::path& list) {
    if (bytes_ > kMostRead) return std::nullopt;
    const std::string text = read_found_file(list.string()), package = package_of(list);
    bytes_ += text.size();
    for (const std::string& end : ends_) {
      for (const std::string& line : lines_with(text, end)) {
        const std::string path = path_in(line, list);
        if (path.empty() || !wanted_.is(place_of(path, package))) continue;
        const fs::path sums = list.parent_path() / (list.stem().string() + std::string(kSums));
        return Owner{package, sum_in(read_found_file(sums.string()), path)};
      }
    }
    return std::nullopt;
  }

 private:
  static std::string end_of(const std::string& path) { return path.substr(path.rfind('/')); }
  static std::string path_in(const std::string& line, const fs::path& list) {
    if (list.extension() != kSums) return line;
    return line.size() > kSumBytes ? "/" + line.substr(kSumBytes) : "";
  }
  // Where the package's file lies.
  std::string place_of(const std::string& path, const std::string& package) const {
    for (const Diversion& d : diversions_) {
      if (d.by != package && is_same(d.from, path)) return d.to;
    }
    return path;
  }
  static std::string sum_in(const std::string& sums, const std::string& path) {
    const std::vector<std::string> lines = lines_with(sums, "  " + path.substr(1));
    return lines.empty() ? "" : lines[0].substr(0, kSumDigits);
  }

  WantedFile wanted_;
  std::vector<Diversion> diversions_;
  std::set<std::string> ends_;
  size_t bytes_ = 0;  // of lists that were read
};

}  // namespace

// Sums alone are there where a container was made without dpkg (status.d).
std::optional<DebugPackage> debug_package_of(const std::string& path, const std::string& admin) {
  std::optional<Owner> owner;
  std::set<std::string> installed;
  if (!path.starts_with('/')) return std::nullopt;
  Search search(path, admin);
  for (const auto& [folder, ending] :
       {std::pair<std::string_view, std::string_view>{"info", ".list"}, {"status.d", kSums}}) {
    const fs::path lists = fs::path(admin) / folder;
    for (const std::string& name : names_in_found_folder(lists.string())) {
      if (fs::path(name).extension() != ending) continue;
      installed.insert(package_of(name));
      if (!owner) owner = search.find(lists / name);
    }
  }
  if (!owner) return std::nullopt;
  const std::string name = debug_name(owner->package);
  return DebugPackage{name, owner->package, installed.contains(name), owner->sum};
}

std::string server_of_distribution(const std::string& os_release) {
  constexpr std::pair<std::string_view, std::string_view> kServers[] = {
      {"debian", "https://debuginfod.debian.net"},
      {"ubuntu", "https://debuginfod.ubuntu.com"},
      {"fedora", "https://debuginfod.fedoraproject.org"},
      {"arch", "https://debuginfod.archlinux.org"},
      {"opensuse-tumbleweed", "https://debuginfod.opensuse.org"},
  };
  const std::string text = read_found_file(os_release);
  for (const auto& [id, url] : kServers) {
    if (has_line(text, "ID=" + std::string(id)) || has_line(text, "ID=\"" + std::string(id) + "\""))
      return std::string(url);
  }
  return "https://debuginfod.elfutils.org";
}

}  // namespace dj
