// SPDX-License-Identifier: Apache-2.0
// Finding holds one line of what the doctor says, with the way out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dj {

enum class Health : uint8_t {
  Ok,
  Note,     // worth knowing; all works
  Limited,  // a session does without something
  Fails,    // djtap refuses a session
};

// Verdict is what a row's check says.
struct Verdict {
  Health health = Health::Ok;
  std::string what;
  std::string way_out = {};   // empty: the row's
  std::string object = {};    // a file of the target that this is about
  std::string build_id = {};  // of the object, hex
};
using Verdicts = std::vector<Verdict>;

struct Finding {
  std::string row;
  Verdict verdict;
};
using Findings = std::vector<Finding>;

// Row holds a name, the function that looks, and the way out of what it finds.
template <typename Of>
struct Row {
  const char* name;
  Verdicts (*look)(Of&);
  const char* way_out;
};

// Adds what the row says of `of` to `findings`.
template <typename Of>
void examine(const Row<Of>& row, Of& of, Findings& findings) {
  for (Verdict& verdict : row.look(of)) {
    const bool needs_way_out = verdict.health == Health::Limited || verdict.health == Health::Fails;
    if (needs_way_out && verdict.way_out.empty()) verdict.way_out = row.way_out;
    findings.push_back({row.name, std::move(verdict)});
  }
}

}  // namespace dj
