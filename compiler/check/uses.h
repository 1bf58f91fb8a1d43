// SPDX-License-Identifier: Apache-2.0
// Uses: how every name of a script is used and where, gathered in one walk before anything is
// bound. The auto-global rule, the storage classes, the display at exit and the warnings all read
// it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/stages/ast.h"

namespace dj {

enum class Use : uint8_t {
  Read,
  Update,      // ++ -- op=, the value is not used
  UpdateRead,  // the same, and the value is used
  Set,         // plain =
  Bind,        // a foreach variable
  StatAdd,     // <<<
  StatRead,    // @count(x) and the other extractors
  Delete,
};

struct NameUse {
  uint32_t unit = 0;  // Uses::units
  Use use = Use::Read;
  uint32_t keys = 0;      // 0: without an index
  bool additive = false;  // Update by ++ -- += -=
  bool looped = false;    // inside of a loop
  bool alone = false;     // a statement of its own
  Span span;
};

// One body of code: a function or a probe.
struct Body {
  bool is_function = false;
  bool host = false;  // a probe that runs in djtap itself: begin, end, timer, process.end
  std::vector<std::string> calls;
};

struct Uses {
  std::vector<Body> units;  // the functions, then the probes, in the script's order
  // In the order of the text; a function's parameters are left out, they are always its own.
  std::map<std::string, std::vector<NameUse>> names;
};

Uses find_uses(const ast::Script& script);

// True if all points of the probe run in djtap itself, where no target variables exist.
bool is_host(const ast::Probe& probe);
bool is_host(const ast::ProbePoint& point);
// The point is where a function returns: it ends in .return.
bool is_return_point(const ast::ProbePoint& point);

// snapshot(a) may also be called swap(a).
inline bool is_snapshot_name(std::string_view name) { return name == "snapshot" || name == "swap"; }

inline bool is_write(Use use) {
  return use != Use::Read && use != Use::StatRead && use != Use::Delete;
}
inline bool is_read(Use use) {
  return use == Use::Read || use == Use::UpdateRead || use == Use::StatRead;
}

}  // namespace dj
