// SPDX-License-Identifier: Apache-2.0
// MapQuery asks the kernel for single mappings of a process (PROCMAP_QUERY, Linux 6.11). The cost
// does not grow with the number of all its mappings, unlike that of /proc/PID/maps.
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
  // Opens a query about the process. Empty: the kernel answers no such questions, or none about
  // this process.
  static std::optional<MapQuery> open(pid_t pid);
  MapQuery(MapQuery&& other) noexcept;
  MapQuery& operator=(MapQuery&&) = delete;
  ~MapQuery();

  // Returns all executable mappings of files, ascending, without their paths and without `deleted`.
  // Empty: the kernel has refused an answer.
  std::optional<std::vector<Mapping>> code_of_files() const;
  // Returns those in `range`, with their paths. A mapping is in a range if it begins in the range,
  // or begins before it and reaches into it.
  std::optional<std::vector<Mapping>> code_of_files(const AddressRange& range) const;
  // Returns all mappings in `range`, ascending, with their paths.
  std::optional<std::vector<Mapping>> in(const AddressRange& range) const;

 private:
  explicit MapQuery(int fd) : fd_(fd) {}
  static std::optional<MapQuery> open_thread(pid_t tid);
  enum class Answer : uint8_t { Found, None, Refused };
  // Finds the first mapping that ends behind `address`. `flags`: the kernel's flags that it must
  // match.
  Answer find(uint64_t address, uint64_t flags, bool named, Mapping& found) const;
  std::optional<std::vector<Mapping>> list(const AddressRange& range, uint64_t flags,
                                           bool named) const;
  int fd_;
};

// MapFinder finds single mappings of a stopped process: by MapQuery, or if the kernel answers no
// such questions, in all mappings, which it reads once.
class MapFinder {
 public:
  explicit MapFinder(pid_t pid) : MapFinder(pid, MapQuery::open(pid)) {}
  MapFinder(pid_t pid, std::optional<MapQuery> query) : pid_(pid), query_(std::move(query)) {}
  // Returns the mapping that holds `address`; empty: none does. Errors: those of read_maps().
  Result<std::optional<Mapping>> at(uint64_t address);

 private:
  pid_t pid_;
  std::optional<MapQuery> query_;
  std::optional<std::vector<Mapping>> all_;
};

}  // namespace dj
