// SPDX-License-Identifier: Apache-2.0
// StackTables makes a session's tables for stack walks (runtime/shared/unwind.h) from the files of
// its mapped modules. It makes them before the session, and updates them while the session runs.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/stack_info.h"
#include "runtime/process/mapped_module.h"
#include "runtime/session/address_owners.h"
#include "runtime/session/jit_code.h"

namespace dj {

// ReadStackInfo: reads a module's file; compiler/debuginfo provides it.
using ReadStackInfo = std::function<Result<StackInfo>(const std::string& open_path)>;

class StackTables {
 public:
  // Reads all modules, in as many threads as there are CPUs. It leaves out a module that it cannot
  // read: walks go by frame pointers there. max_frames: MAXBACKTRACE. dlopened: modules may come
  // while the session runs.
  StackTables(const std::vector<MappedModule>& modules, ReadStackInfo read, uint32_t max_frames,
              bool dlopened);

  // The tables of another process, made in the same way.
  StackTables for_process(const std::vector<MappedModule>& modules) const {
    return {modules, read_, max_frames_, room_ > bytes_.size()};
  }
  // These tables as they were at first, for a process that has the same files, in the same order,
  // at other places. It reads no file.
  StackTables moved_to(const std::vector<MappedModule>& modules) const;
  // The tables as they are at first: one block that may lie at any 8-byte aligned address.
  std::span<const uint8_t> bytes() const { return bytes_; }
  // Bytes that the block and its later growth need: those behind bytes() must be zero.
  uint64_t room() const { return room_; }
  // Updates the tables to the modules that are mapped now: reads those that came, marks those that
  // went. memory: the room, shared with the target. Fails if modules find no room; the error names
  // them.
  Status follow(const std::vector<MappedModule>& now, std::span<uint8_t> memory);
  // Notes where another process of the session has its modules, for name_elsewhere().
  void add_elsewhere(const std::vector<MappedModule>& modules);
  // Makes addresses of other processes' modules, as a script keeps them, known to handlers of
  // djtap's own; where two files have lain, neither is. It reads the files that are new, and does
  // nothing if no place has come since the last call. memory, errors: as of follow(); it fails
  // also, once, when there are more places than it can keep.
  Status name_elsewhere(std::span<uint8_t> memory);
  // Replaces the names of code that the program has made itself. path: the file that tells of the
  // code. It leaves out code where an object is mapped. False: there was no room for all names.
  bool name_made_code(const std::map<uint64_t, JitFunction>& functions, const std::string& path,
                      std::span<uint8_t> memory);

 private:
  // Tables: a module's tables without its place, by what tells files apart. Null row: the file
  // cannot be read.
  struct Tables {
    uint64_t base = 0;  // lowest ELF address
    std::optional<abi::StackModule> row;
  };
  // Placement: one place that a file has had, or has.
  struct Placement {
    FileName file;
    MappedModule module;
    enum { Mapped, Gone, Covered } state = Mapped;  // Covered: another file came there
    bool shared = false;
  };
  void place(const MappedModule& module, const FileName& file);
  void forget_oldest();
  abi::StackModule row_of(const AddressRange& range, uint64_t bias, const Tables& tables) const;
  std::vector<abi::StackModule> own_rows() const;
  std::vector<abi::StackModule> rows() const;
  void write_index(uint8_t* to) const;
  Status read_files(const std::vector<MappedModule>& modules, std::span<uint8_t> memory);
  void exchange_index(std::span<uint8_t> memory);
  uint32_t made_name(const std::string& name, std::span<uint8_t> memory);
  bool is_mapped(uint64_t begin, uint64_t end) const;
  bool is_made_where(const MappedModule& module) const;

  ReadStackInfo read_;
  uint32_t max_frames_;
  std::vector<uint8_t> bytes_;
  uint64_t used_ = 0, room_ = 0;
  uint64_t indexes_[2] = {};  // offsets, of those that later modules need
  uint64_t exchanged_ = 0;    // how often
  std::map<FileName, Tables> files_;
  std::vector<Placement> placements_;

  // Of other processes.
  struct Elsewhere {
    AddressOwners owners;
    std::map<FileName, MappedModule> unread;
    bool is_new = false, is_full = false;  // a place has come; some were left out
  } elsewhere_;

  // For code that the program makes: it writes the rows of functions to two places in turn.
  struct Made {
    std::vector<abi::StackModule> all;
    std::map<std::string, uint32_t> names;  // where they lie
    uint64_t rows[2] = {}, exchanged = 0;
    uint64_t texts = 0, texts_end = 0;
    uint32_t rules = 0;
  } made_;
};

}  // namespace dj
