// SPDX-License-Identifier: Apache-2.0
// AddressOwners tells whose an address is that a script has kept: which file lay there in the
// processes of a session. Where several files have lain, it cannot be told.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/found_name.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// FileName tells files apart, also files that have the same path one after the other.
using FileName = std::pair<std::string, std::optional<FileVersion>>;

class AddressOwners {
 public:
  // Owner: a file that is mapped `bias` above its ELF addresses.
  struct Owner {
    FileName file;
    uint64_t bias = 0;
    bool operator==(const Owner&) const = default;
  };
  struct Owned {
    AddressRange range;
    const Owner* owner;  // until the next add()
  };

  // Adds a place of a file; the range is not empty.
  void add(const AddressRange& range, const Owner& owner);
  // How many ranges it has, those of several owners among them.
  size_t size() const { return parts_.size(); }
  // Whether a part of the range has another owner, or several.
  bool has_others(const AddressRange& range, const Owner& owner) const;
  // Returns all parts that have one owner and lie outside of `taken`, ascending. taken: ascending,
  // none reaches into the next.
  std::vector<Owned> outside(const std::vector<AddressRange>& taken) const;

 private:
  struct Part {
    uint64_t end;
    std::shared_ptr<const Owner> owner;  // null: several
  };
  using Parts = std::map<uint64_t, Part>;  // by their begins
  void split_at(uint64_t address);
  Parts::const_iterator first_behind(uint64_t address) const;
  Parts parts_;
};

}  // namespace dj
