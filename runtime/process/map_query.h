// SPDX-License-Identifier: Apache-2.0
// MapQuery: asks the kernel for single mappings of a process (PROCMAP_QUERY, Linux 6.11), at a cost
// that does not grow with the number of all its mappings, as that of /proc/PID/maps does.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"

namespace dj {

class MapQuery {
 public:
  // Nothing: the kernel answers no such questions, or not about this process.
  static std::optional<MapQuery> open(pid_t pid);
  MapQuery(MapQuery&& other) noexcept;
  MapQuery& operator=(MapQuery&&) = delete;
  ~MapQuery();

  // All executable mappings of files, ascending, without their paths (`deleted` is not known
  // either). Nothing: the kernel has refused an answer.
  std::optional<std::vector<Mapping>> code_of_files() const;
  // Those in this range, with their paths. A mapping is in a range that it begins in, or begins
  // before and reaches into.
  std::optional<std::vector<Mapping>> code_of_files(const AddressRange& range) const;
  // All mappings in `range`, ascending, with their paths.
  std::optional<std::vector<Mapping>> in(const AddressRange& range) const;

 private:
  explicit MapQuery(int fd) : fd_(fd) {}
  enum class Answer : uint8_t { Found, None, Refused };
  // The first mapping that ends behind `address`. `flags`: what it must be.
  Answer find(uint64_t address, uint64_t flags, bool named, Mapping& found) const;
  std::optional<std::vector<Mapping>> list(const AddressRange& range, uint64_t flags,
                                           bool named) const;
  int fd_;
};

// MapFinder: finds mappings of a process that stands, one by one: by MapQuery, or where the kernel
// answers no such questions in all mappings, which it reads once.
class MapFinder {
 public:
  explicit MapFinder(pid_t pid) : MapFinder(pid, MapQuery::open(pid)) {}
  MapFinder(pid_t pid, std::optional<MapQuery> query) : pid_(pid), query_(std::move(query)) {}
  // The mapping that holds `address`, or nothing. Errors: those of read_maps().
  Result<std::optional<Mapping>> at(uint64_t address);

 private:
  pid_t pid_;
  std::optional<MapQuery> query_;
  std::optional<std::vector<Mapping>> all_;
};

}  // namespace dj
