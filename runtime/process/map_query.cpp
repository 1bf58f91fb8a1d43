// SPDX-License-Identifier: Apache-2.0
// The structure is the kernel's (linux/fs.h), which older headers do not have.
#include "runtime/process/map_query.h"

#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/process/tracer.h"

namespace dj {
namespace {

struct Query {
  uint64_t size = sizeof(Query), flags = 0, address = 0;
  uint64_t begin = 0, end = 0, protection = 0, page_size = 0, offset = 0, inode = 0;
  uint32_t device_major = 0, device_minor = 0, name_bytes = 0, build_id_bytes = 0;
  uint64_t name = 0, build_id = 0;
};
constexpr unsigned long kQuery = _IOWR('f', 17, Query);
// What a mapping may be asked to be, and in `protection` is; then how to look for it.
constexpr uint64_t kRead = 1, kWrite = 2, kExec = 4, kShared = 8, kOrNext = 16, kOfFile = 32;

// As /proc/PID/maps has it, where a line is a mapping.
std::string as_shown(std::string name) {
  for (size_t at = 0; (at = name.find('\n', at)) != std::string::npos;)
    name.replace(at, 1, "\\012");
  return name;
}

}  // namespace

std::optional<MapQuery> MapQuery::open_thread(pid_t tid) {
  MapQuery query(open_process_file(tid, ProcessFile::Maps));
  Mapping any;
  if (query.fd_ < 0 || query.find(0, 0, false, any) != Answer::Found) return std::nullopt;
  return query;
}

std::optional<MapQuery> MapQuery::open(pid_t pid) {
  std::optional<MapQuery> query = open_thread(pid);
  const pid_t tid = query ? pid : living_thread(pid);
  return tid == pid ? std::move(query) : open_thread(tid);
}

MapQuery::MapQuery(MapQuery&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

MapQuery::~MapQuery() {
  if (fd_ >= 0) close(fd_);
}

MapQuery::Answer MapQuery::find(uint64_t address, uint64_t flags, bool named,
                                Mapping& found) const {
  char name[PATH_MAX + 16] = {};
  Query query;
  query.flags = flags | kOrNext;
  query.address = address;
  if (named) {
    query.name = reinterpret_cast<uint64_t>(name);
    query.name_bytes = sizeof name - 1;
  }
  if (ioctl(fd_, kQuery, &query) != 0) return errno == ENOENT ? Answer::None : Answer::Refused;
  const auto is = [&](uint64_t flag) { return (query.protection & flag) != 0; };
  found = {query.begin, query.end,   is(kRead),    is(kWrite),
           is(kExec),   is(kShared), query.offset, makedev(query.device_major, query.device_minor),
           query.inode, "",          false};
  set_path(found, as_shown(name));
  return Answer::Found;
}

std::optional<std::vector<Mapping>> MapQuery::list(const AddressRange& range, uint64_t flags,
                                                   bool named) const {
  std::vector<Mapping> all;
  Mapping mapping;
  for (uint64_t at = range.begin; at < range.end; at = mapping.end) {
    const Answer answer = find(at, flags, named, mapping);
    if (answer == Answer::Refused) return std::nullopt;
    if (answer == Answer::None || mapping.begin >= range.end) break;
    all.push_back(mapping);
  }
  return all;
}

std::optional<std::vector<Mapping>> MapQuery::code_of_files() const {
  std::optional<std::vector<Mapping>> all = list({0, ~uint64_t{0}}, kExec | kOfFile, false);
  if (all) std::erase_if(*all, [](const Mapping& m) { return m.inode == 0; });
  return all;
}

std::optional<std::vector<Mapping>> MapQuery::code_of_files(const AddressRange& range) const {
  std::optional<std::vector<Mapping>> some = list(range, kExec | kOfFile, true);
  if (some) std::erase_if(*some, [](const Mapping& m) { return m.inode == 0; });
  return some;
}

std::optional<std::vector<Mapping>> MapQuery::in(const AddressRange& range) const {
  return list(range, 0, true);
}

Result<std::optional<Mapping>> MapFinder::at(uint64_t address) {
  if (const auto found = query_ ? query_->in({address, address + 1}) : std::nullopt)
    return found->empty() ? std::nullopt : std::optional(found->front());
  if (!all_) {
    DJ_TRY(all_, read_maps(pid_));
  }
  const auto m = std::ranges::upper_bound(*all_, address, {}, &Mapping::end);
  return m == all_->end() || m->begin > address ? std::nullopt : std::optional(*m);
}

}  // namespace dj
