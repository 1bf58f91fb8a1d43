// SPDX-License-Identifier: Apache-2.0
// resolve(): Program -> Plan. Which addresses of which files each probe point means, and where
// every target value lies there. Knows files, not processes.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/diag/diag.h"
#include "compiler/resolve/system_calls.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "compiler/stages/type_printer.h"

namespace dj {

// Where an object of the target stands in memory.
struct MappedFile {
  size_t module = 0;  // index in TargetFiles::modules
  uint64_t begin = 0, end = 0;
  uint64_t bias = 0;  // run-time address minus the file's
};

// Makes an object file with the types of C headers, written "<a.h><b.h>", and gives its path. The
// error's message may have lines: what the compiler said.
using CompileHeaders = std::function<Result<std::string>(const std::string& headers)>;

// What one resolve() after the other uses.
struct ResolveHelpers {
  const TypePrinters* printers = nullptr;  // for texts such as $x$; null: none
  CompileHeaders compile_headers;          // for @cast(p, "type", "<header.h>"); may be empty
  std::shared_ptr<SystemCalls> system_calls = std::make_shared<SystemCalls>();  // found so far
};

// What the target consists of.
struct TargetFiles {
  std::vector<std::string>
      modules;  // [0]: executable; then mapped objects; absolute paths, without the vdso
  bool has_target = false;   // false: there are no such objects
  bool may_execute = false;  // the target may yet execute other files, and probes follow
  // The path of the library that a program's loader would find by that name; "": there is none. May
  // be empty: then what is executed later is no reason to wait for a library.
  std::function<std::string(const std::string& name)> find_library;
  bool is_kernel = false;    // modules[0] is the kernel, and the others are its modules
  std::string kernel_types;  // the folder of its BTF files (compiler/btf/kernel_types.h)
  // Of a process: whether the running kernel has a function of that name; may be empty.
  std::function<bool(const std::string& name)> is_in_kernel;
  std::vector<MappedFile> mapped;
  ResolveHelpers helpers;
  size_t first_new =
      0;  // modules before this one have had their plan: only the others are searched
  // How djtap opens each of `modules`; what is not here is opened by its path.
  std::vector<std::string> open_paths;
};

// Mistakes go to `diags`; the plan is usable only when there were none. Plan::modules are those
// that probes were found in. Without a target, process("file") probes are looked up in that file.
// keep_calls: the calls of all return probes are kept until they return, so that they can be
// counted.
Plan resolve(const Program& program, const TargetFiles& files, Diags& diags,
             bool keep_calls = false);

// One line per module, site, handler and host probe.
std::string dump(const Plan& plan);

}  // namespace dj
