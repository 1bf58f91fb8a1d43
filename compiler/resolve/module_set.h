// SPDX-License-Identifier: Apache-2.0
// ModuleSet: the target's objects, opened when first searched, and found by the names people use.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/debuginfo/module.h"
#include "compiler/diag/diag.h"
#include "compiler/resolve/resolve.h"

namespace dj {

// The help of errors where nothing is traced.
inline constexpr const char* kTraceSomething =
    "trace a process: djtap -c 'command' -e '...' starts one, "
    "djtap -p PID -e '...' attaches to a running one";

// The library that nearly every process has mapped. Where the command line names no process, those
// that have it are all whose system calls can be probed.
inline constexpr const char* kCLibrary = "libc.so.6";

class ModuleSet {
 public:
  explicit ModuleSet(const TargetFiles& files);

  // Objects have numbers, from 0: the executable.
  size_t size() const { return objects_.size(); }
  bool has_target() const { return has_target_; }  // not files by their names alone
  bool is_kernel() const { return is_kernel_; }
  bool may_execute() const { return may_execute_; }  // TargetFiles::may_execute
  // Of a process: whether the running kernel has a function of that name.
  bool is_in_kernel(const std::string& name) const { return is_in_kernel_ && is_in_kernel_(name); }
  // Objects before this one have had their plan.
  size_t first_new() const { return first_new_; }
  const std::vector<MappedFile>& mapped() const { return mapped_; }
  // Where object i stands in memory: run-time address minus the file's. None: nowhere.
  std::optional<uint64_t> bias(size_t i) const;
  // Whether the target runs one of these objects or has mapped it. Without a target: true.
  bool has_one_of(const std::vector<size_t>& objects) const;
  const TypePrinters* printers() const { return printers_; }
  const std::string& path(size_t i) const { return objects_[i].path; }
  std::string base_name(size_t i) const;  // behind the last '/'
  std::string listed() const;             // "its objects: a, b, ...", for messages
  // Null: not an object file that can be read (fonts, locale archives ...).
  Module* open(size_t i);
  // The dynamic linker's number, which tells of objects that are opened later. None: the program is
  // static, as far as djtap sees.
  std::optional<size_t> loader() const;
  // The system call instructions of object i; nothing until probe_syscall.cpp has looked once.
  SystemCalls::Found& syscalls(size_t i);

  // Objects that "libc.so.6", "libc", "/lib/x/libc.so.6", a link to one, or a wildcard means; from:
  // the first to consider.
  std::vector<size_t> named(std::string_view name, size_t from) const;
  // The library of that name that what is executed later may have mapped: its number. None: no such
  // library is installed, or nothing else is executed.
  std::optional<size_t> later_library(const std::string& name);
  // What process("name") means; reports the mistake at `span` when it means nothing.
  std::vector<size_t> process(const std::string& name, Span span, Diags& diags);

 private:
  struct Object {
    std::string path, open_path;  // its name for users, and where djtap reads it
    std::unique_ptr<Module> module = nullptr;
    bool tried = false;                      // to open it
    SystemCalls::Found* syscalls = nullptr;  // null: not asked for yet
  };

  // file: where it is; "": nowhere.
  void report_no_object(const std::string& name, const std::string& file, Span span,
                        Diags& diags) const;
  // Objects that a path, or a wildcard of paths, leads to through links: Debian's /lib is one.
  std::vector<size_t> linked(const std::string& name, size_t from) const;
  // Objects whose path matches, by path_glob().
  std::vector<size_t> matching(std::string_view path) const;
  size_t add(const std::string& file);  // its index
  std::vector<Object> objects_;
  std::vector<MappedFile> mapped_;
  bool has_target_, may_execute_, is_kernel_;
  std::function<bool(const std::string& name)> is_in_kernel_;
  std::function<std::string(const std::string& name)> find_library_;
  std::shared_ptr<SystemCalls> calls_;
  const TypePrinters* printers_;
  size_t first_new_;
};

// Is that a name of the vdso, or of functions of it? It is no file, and not to be probed.
bool means_vdso(std::string_view name);
void report_vdso(std::string_view name, Span span, Diags& diags);

}  // namespace dj
