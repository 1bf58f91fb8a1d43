// Executable mappings of files tell what came and went.
#include "runtime/process/module_watch.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "runtime/process/kin.h"

namespace dj {
namespace {

auto key_of(const Mapping& m) {
  return std::tuple(m.begin, m.end, m.offset, m.device, m.inode, m.write, m.shared);
}

bool is_before(const Mapping& a, const Mapping& b) { return key_of(a) < key_of(b); }

bool is_same(const std::vector<Mapping>& a, const std::vector<Mapping>& b) {
  return std::ranges::equal(a, b, {}, key_of, key_of);
}

std::vector<Mapping> code_of_files(const std::vector<Mapping>& maps) {
  std::vector<Mapping> code;
  std::ranges::copy_if(maps, std::back_inserter(code),
                       [](const Mapping& m) { return m.exec && m.inode != 0; });
  return code;
}

}  // namespace

// Before the look: what comes meanwhile is looked at once more.
Result<bool> ModuleWatch::look() {
  code_kb_ = code_kb();
  return look_now();
}

uint64_t ModuleWatch::code_kb() const {
  const Result<ProcessStatus> status = read_status(living_thread(pid_));
  return status.ok() ? status.value().code_kb : 0;
}

bool ModuleWatch::has_as_much_code() const { return code_kb_ != 0 && code_kb() == code_kb_; }

Result<bool> ModuleWatch::look_now() {
  const std::optional<MapQuery> query = MapQuery::open(pid_);
  const std::optional<std::vector<Mapping>> code = query ? query->code_of_files() : std::nullopt;
  if (code && !code_.empty() && is_same(*code, code_)) return false;
  if (code && !code_.empty() && add(*query, *code)) return true;
  DJ_TRY(const std::vector<Mapping> maps, read_maps(pid_));
  std::vector<Mapping> now = code_of_files(maps);
  if (!code && is_same(now, code_)) return false;
  modules_ = modules_among(pid_, maps);
  code_ = std::move(now);
  return true;
}

bool ModuleWatch::add(const MapQuery& query, const std::vector<Mapping>& code) {
  if (!std::ranges::includes(code, code_, is_before)) return false;  // something went
  std::vector<Mapping> fresh, objects;
  std::ranges::set_difference(code, code_, std::back_inserter(fresh), is_before);
  std::set<std::pair<uint64_t, uint64_t>> files;
  for (const Mapping& m : code_) files.emplace(m.device, m.inode);
  for (const Mapping& m : fresh) {
    if (files.contains({m.device, m.inode})) return false;  // more of a file that was there
    const auto named = query.in({m.begin, m.begin + 1});
    if (!named || named->size() != 1 || key_of(named->front()) != key_of(m)) return false;
    if (!is_session_memory(named->front())) objects.push_back(named->front());
  }
  std::optional<std::vector<MappedModule>> more = modules_of_code(pid_, objects, query);
  if (!more) return false;
  std::ranges::move(*more, std::back_inserter(modules_));
  std::ranges::sort(modules_, {}, &MappedModule::begin);
  code_ = code;
  return true;
}

}  // namespace dj
