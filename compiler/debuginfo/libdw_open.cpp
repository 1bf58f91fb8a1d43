// SPDX-License-Identifier: Apache-2.0
// open() as libdw calls it. libdw opens .dwo files, dwz files and separate debug files by names
// that stand in debug information, and has no other way to be given them: this definition stands
// before the C library's and gives libdw the bytes of target_file.h. All other callers get what
// they ask the kernel for. libdw is not given libdebuginfod: it would load it, and libcurl, at each
// start, and would believe what a server sends. debuginfod.h asks instead.
#include "compiler/debuginfo/libdw_open.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <string_view>

#include "compiler/debuginfo/object_file.h"
#include "compiler/debuginfo/packed_size.h"
#include "compiler/debuginfo/packed_units.h"
#include "compiler/debuginfo/split_image.h"

namespace dj {
namespace {

struct Range {
  const void *begin = nullptr, *end = nullptr;
};

// Where libdw's code lies.
Range find_libdw() {
  dl_find_object found = {};
  void* function = dlsym(RTLD_DEFAULT, "dwfl_begin");
  if (function == nullptr || _dl_find_object(function, &found) != 0) return {};
  return {found.dlfo_map_start, found.dlfo_map_end};
}

bool is_libdw(const void* code) {
  static const Range libdw = find_libdw();
  return libdw.begin <= code && code < libdw.end;
}

// libdw tries many names: only ELF files are for it, and it unpacks no whole file.
int open_for_libdw(const char* path) {
  const Result<ObjectFile> elf = ObjectFile::open_found(path);
  const bool is_usable = elf.ok() && unpacks_sanely(elf.value());
  const int fd = !is_usable                       ? PackedSearch::image()
                 : needs_split_image(elf.value()) ? split_image(elf.value())
                                                  : elf.value().file().duplicate();
  if (fd < 0) errno = ENOENT;
  return fd;
}

}  // namespace

void guard_libdw() {}

}  // namespace dj

extern "C" int open(const char* path, int flags, ...) {
  if (dj::is_libdw(__builtin_return_address(0)) && (flags & O_ACCMODE) == O_RDONLY) {
    return dj::open_for_libdw(path);
  }
  va_list more;
  va_start(more, flags);
  const bool creates = (flags & (O_CREAT | __O_TMPFILE)) != 0;
  const unsigned mode = creates ? va_arg(more, unsigned) : 0;
  va_end(more);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" void* dlopen(const char* name, int flags) noexcept(noexcept(::dlopen(name, flags))) {
  using Open = void* (*)(const char* name, int flags);
  static const auto next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  const bool asks_servers = name != nullptr && std::string_view(name).starts_with("libdebuginfod");
  if (asks_servers && dj::is_libdw(__builtin_return_address(0))) return nullptr;
  return next(name, flags);
}
