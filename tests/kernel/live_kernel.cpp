// SPDX-License-Identifier: Apache-2.0
// For tests: the running kernel as a file, and what the checks say of its functions.
//
//   live_kernel write FILE [SYMBOLS MEMORY NOTES]   writes the ELF file
//   live_kernel module NAME FILE   writes a module's
//   live_kernel modules FOLDER   writes a file for each loaded module, MODULE.elf, and prints their
//       names
//   live_kernel places FILE   prints a line for each entry, and for each exit; judged apart:
//       entry FUNCTION ADDRESS FORM REASON EXITS    EXITS: "known", or why they are not
//       exit FUNCTION ADDRESS FORM REASON WAY       WAY: "tail" where a function is called there
#include "runtime/kernel/live_kernel.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "arch/x86_64/entry_place.h"
#include "arch/x86_64/safety.h"
#include "compiler/debuginfo/text.h"

namespace dj {
namespace {

Status write(const std::string& to, std::span<const uint8_t> bytes) {
  std::ofstream out(to, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  return out.flush() ? ok_status() : Error{"cannot write " + to};
}

Status write_modules(const std::string& folder) {
  DJ_TRY(const LiveKernel live, LiveKernel::open());
  DJ_TRY(const std::vector<std::string> names, live.modules());
  for (const std::string& name : names) {
    DJ_TRY(const std::vector<uint8_t> bytes, live.module(name));
    DJ_TRY_DO(write(folder + "/" + name + ".elf", bytes));
    std::printf("%s\n", name.c_str());
  }
  return ok_status();
}

// A place to probe, and the function that it is for.
struct Place {
  uint64_t function;
  std::string exits;  // of an entry; of an exit: its way
};

class Places {
 public:
  void add(const arch::Region& region, Place place) {
    regions_.push_back(region);
    places_.push_back(std::move(place));
  }

  void print(const char* kind, arch::Checker& checker) {
    checker.check(regions_, arch::Guards::WhereNeeded, arch::Neighbours::Lean);
    for (size_t i = 0; i < regions_.size(); i++) {
      const arch::Region& region = regions_[i];
      const auto outcome = checker.outcome(region);
      const uint64_t at = region.probe_address != 0 ? region.probe_address : region.address;
      std::printf("%s %lx %lx %s %s %s\n", kind, places_[i].function, at, outcome.form,
                  verdict_name(outcome.reason), places_[i].exits.c_str());
    }
  }

 private:
  std::vector<arch::Region> regions_;
  std::vector<Place> places_;
};

Status print_places(const std::string& path) {
  DJ_TRY(const arch::ModuleText text, read_text(path));
  arch::Checker checker(text);
  Places entries, exits;
  std::set<uint64_t> seen;
  for (const uint64_t begin : text.named) {
    const arch::FunctionRange function = checker.function_from(begin);
    const arch::Exits known = checker.exits(begin, function.end);
    arch::Region entry;
    entry.address = arch::entry_place(arch::bytes_at(text.text, begin), begin);
    entries.add(entry, {begin, known.complete ? "known" : known.reason});
    for (const arch::Exit& exit : known.exits) {
      if (seen.insert(exit.exit_address).second)
        exits.add(exit.region, {begin, exit.tail_jump ? "tail" : "return"});
    }
  }
  entries.print("entry", checker);
  exits.print("exit", checker);
  return ok_status();
}

Status run(int count, char** words) {
  if (count >= 3 && strcmp(words[1], "write") == 0) {
    KernelFiles files;
    if (count == 6) {
      files.symbols = words[3];
      files.memory = words[4];
      files.notes = words[5];
    }
    DJ_TRY(const std::vector<uint8_t> bytes, make_live_kernel(files));
    return write(words[2], bytes);
  }
  if (count == 3 && strcmp(words[1], "modules") == 0) return write_modules(words[2]);
  if (count == 4 && strcmp(words[1], "module") == 0) {
    DJ_TRY(const LiveKernel live, LiveKernel::open());
    DJ_TRY(const std::vector<uint8_t> bytes, live.module(words[2]));
    return write(words[3], bytes);
  }
  if (count == 3 && strcmp(words[1], "places") == 0) return print_places(words[2]);
  return Error{
      "usage: live_kernel write FILE [SYMBOLS MEMORY NOTES] | modules FOLDER | places FILE"};
}

}  // namespace
}  // namespace dj

int main(int count, char** words) {
  const dj::Status status = dj::run(count, words);
  if (!status.ok()) std::fprintf(stderr, "live_kernel: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
