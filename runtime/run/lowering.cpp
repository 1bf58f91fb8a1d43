// SPDX-License-Identifier: Apache-2.0
// Loads libdjtap_lower.so from where djtap's own files are.
#include "runtime/run/lowering.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/lib-names.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>

#include "compiler/base/own_data.h"
#include "compiler/base/printable.h"
#include "compiler/base/spare_thread.h"
#include "compiler/stages/lowering.h"

namespace dj {
namespace {

std::optional<SpareThread> loader;
std::atomic<bool> has_tried{false};  // what follows is the loader's before
std::atomic<bool> is_awaited{false};
const Lowering* lowering = nullptr;    // null: not loaded, `failure` says why
std::shared_ptr<ir::Backend> backend;  // for all lower() runs; null: not loaded
std::string failure;

// Whether memory comes from the C library, not from a library loaded before it (LD_PRELOAD, ASan).
bool has_own_malloc() {
  void* c_library = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  if (c_library == nullptr) return false;
  const bool own = dlsym(c_library, "malloc") == dlsym(RTLD_DEFAULT, "malloc");
  dlclose(c_library);
  return own;
}

// LLVM's 22,000 symbols are first looked for in LLVM, not in djtap and the libraries that it has
// loaded: 13 ms instead of 22. Not with a second malloc: each half of djtap would have its own, and
// ASan refuses.
void load_file() {
  const int first_in_itself = has_own_malloc() ? RTLD_DEEPBIND : 0;
  const Result<std::string>& path = own_lowering();
  if (!path.ok()) return static_cast<void>(failure = path.error().message);
  void* file = dlopen(path.value().c_str(), RTLD_LAZY | RTLD_LOCAL | first_in_itself);
  const void* found = file != nullptr ? dlsym(file, kLoweringSymbol) : nullptr;
  if (found == nullptr) {
    failure =
        std::string("the compiler of handlers cannot be loaded (is there too little memory?): ") +
        dlerror();
    return;
  }
  const auto* theirs = static_cast<const Lowering*>(found);
  if (std::strcmp(theirs->version, own_version()) != 0) {
    failure = fmt::format("{} is of djtap {}, this is djtap {}: install the package again",
                          printable(path.value()), theirs->version, own_version());
    return;
  }
  lowering = theirs;
}

void load() {
  if (lowering == nullptr) load_file();
  if (lowering != nullptr && !backend) backend = lowering->make_backend();
}

// The loader may go on warming up; what is compiled meanwhile waits for that.
void wait() {
  is_awaited = true;
  if (loader) has_tried.wait(false);
  load();
}

Error cannot_load() { return Error{failure, Fail::Incomplete}; }

const Lowering& loaded() {
  CHECK(lowering != nullptr);  // lower() comes first
  return *lowering;
}

}  // namespace

Status load_lowering() {
  load();
  return lowering != nullptr ? ok_status() : Status(cannot_load());
}

LoweringThread::LoweringThread(bool wanted) {
  if (!wanted) return;
  loader = spare_thread([] {
    struct AtEnd {  // also where memory fails
      ~AtEnd() {
        has_tried = true;
        has_tried.notify_all();
      }
    };
    {
      AtEnd loading;
      load();
    }
    if (lowering != nullptr && !is_awaited) lowering->warm_up(*backend);
  });
}

LoweringThread::~LoweringThread() {
  is_awaited = true;
  loader.reset();
  backend.reset();
}

Result<std::string> llvm_version() {
  wait();
  if (lowering == nullptr) return cannot_load();
  return lowering->llvm_version();
}

std::string lowering_path() {
  Dl_info file = {};
  dladdr(&loaded(), &file);
  return file.dli_fname;
}

Result<Image> lower(const Program& program, const Plan& plan, const Layout& layout,
                    const EmitOptions& options, std::vector<HandlerAbi>& abis) {
  wait();
  if (lowering == nullptr) return cannot_load();
  return lowering->lower(*backend, program, plan, layout, options, abis);
}

Result<Linked> link(const Image& image, uint64_t base, std::span<uint8_t> working,
                    const AgentPlaces& places) {
  return loaded().link(image, base, working, places);
}

uint64_t link_bytes(const Image& image) { return loaded().link_bytes(image); }

Result<Linked> link_host(const Image& image) { return loaded().link_host(image); }

}  // namespace dj
