// SPDX-License-Identifier: Apache-2.0
// TestSession: a script compiled by the real stages, its arena and code mapped into the test
// itself, and its handlers called as a detour would. Probe points become hand-made sites:
// func("...") is a function entry with $a .. $f in the argument registers; its .return takes them
// from a capture handler behind all others.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/stages/image.h"
#include "runtime/shared/abi.h"

namespace dj {

// General registers by DWARF number, as the probed program has them.
struct Registers {
  uint64_t r[16] = {};
};

struct SessionOptions {
  Limits limits;
  bool has_rseq = true;
  std::map<std::string, TargetPlan> targets;  // further $names
  bool want_texts = false;                    // Image::ir and assembly
};

class TestSession {
 public:
  explicit TestSession(std::string_view script, SessionOptions options = {});
  ~TestSession();

  // Runs handler `id` as a detour at a function entry would; checks that every register survives.
  // Returns the stack pointer at the site.
  uint64_t hit(HandlerId id, const Registers& registers = {});
  void run_host(HandlerId id);
  // A global by name: int, string, or element.
  int64_t number(const std::string& global);
  std::string text(const std::string& global);
  int64_t element(const std::string& array, std::vector<uint64_t> keys);
  abi::StrWord interned(const std::string& text);
  abi::Header& header() { return *reinterpret_cast<abi::Header*>(layout.base); }
  abi::SessionWords& words() { return *abi::session_words(&header()); }

  template <typename F>
  F* entry(const std::string& name) {
    return reinterpret_cast<F*>(linked.symbols.at(name));
  }

  Program program;
  Plan plan;
  Layout layout;
  Image image;
  Linked linked;
  std::vector<HandlerAbi> abis;

 private:
  void plan_probes(const SessionOptions& options);
  void capture_at_entry(HandlerId body);
  void format_arena();
  void format_tables();
  uint64_t memory_bytes() const;
  const GlobalSlot& slot(const std::string& global);

  void* code_ = nullptr;
  uint64_t code_bytes_ = 0;
};

}  // namespace dj
