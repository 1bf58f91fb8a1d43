// SPDX-License-Identifier: Apache-2.0
// Executable mappings of files tell what came and went.
#include "runtime/process/module_watch.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "runtime/process/session_processes.h"

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
  if (code && !code_.empty()) {
    if (is_same(*code, code_)) return false;
    std::vector<Mapping> fresh;
    std::ranges::set_difference(*code, code_, std::back_inserter(fresh), is_before);
    const bool some_went = !std::ranges::includes(*code, code_, is_before);
    if (!some_went && add(*query, fresh)) return true;
  }
  DJ_TRY(const std::vector<Mapping> maps, read_maps(pid_));
  std::vector<Mapping> now = code_of_files(maps);
  if (!code && is_same(now, code_)) return false;
  modules_ = modules_among(pid_, maps);
  code_ = std::move(now);
  return true;
}

std::optional<std::vector<MappedModule>> ModuleWatch::look_below() {
  constexpr uint64_t kFar = 64 << 20;
  const uint64_t now_kb = code_kb();
  if (lowest_ < kFar || code_kb_ == 0 || now_kb <= code_kb_) return std::nullopt;
  const std::optional<MapQuery> query = MapQuery::open(pid_);
  const auto below = query ? query->code_of_files({lowest_ - kFar, lowest_}) : std::nullopt;
  if (!below) return std::nullopt;
  std::vector<Mapping> fresh;
  uint64_t bytes = 0;
  for (const Mapping& m : *below) {
    if (std::ranges::binary_search(code_, m, is_before)) continue;
    fresh.push_back(m);
    bytes += is_session_memory(m) ? 0 : m.end - m.begin;
  }
  if (bytes >> 10 != now_kb - code_kb_) return std::nullopt;  // some of it lies elsewhere
  std::optional<std::vector<MappedModule>> more = add(*query, fresh);
  if (more) code_kb_ = now_kb;
  return more;
}

std::optional<std::vector<MappedModule>> ModuleWatch::add(const MapQuery& query,
                                                          const std::vector<Mapping>& fresh) {
  std::vector<Mapping> objects;
  for (const Mapping& m : fresh) {
    const auto named = query.in({m.begin, m.begin + 1});
    if (!named || named->size() != 1 || key_of(named->front()) != key_of(m)) return std::nullopt;
    if (is_session_memory(named->front())) continue;
    const auto is_of_it = [&](const Mapping& old) {
      return old.inode == m.inode && old.device == m.device;
    };
    if (std::ranges::any_of(code_, is_of_it)) return std::nullopt;  // more of a file that was there
    objects.push_back(named->front());
  }
  std::optional<std::vector<MappedModule>> more = modules_of_code(pid_, objects, query);
  if (!more) return std::nullopt;
  for (const Mapping& m : fresh) {
    code_.insert(std::ranges::upper_bound(code_, m, is_before), m);
  }
  for (const MappedModule& module : *more) {
    modules_.insert(std::ranges::upper_bound(modules_, module.begin, {}, &MappedModule::begin),
                    module);
  }
  if (!more->empty()) lowest_ = std::ranges::min_element(*more, {}, &MappedModule::begin)->begin;
  return more;
}

}  // namespace dj
