// SPDX-License-Identifier: Apache-2.0
// Code comes from files by compiler/debuginfo, analyses from the user's kept files.
#include "runtime/run/module_codes.h"

#include "compiler/base/printable.h"
#include "compiler/debuginfo/text.h"
#include "runtime/patch/file_cache.h"
#include "runtime/patch/verdict_cache.h"

namespace dj {
namespace {

FileCache files_for(bool cache, bool verbose) {
  if (!cache) return FileCache::none();
  if (!verbose) return FileCache::of_user({});
  return FileCache::of_user([](const std::string& what) { log_line("djtap: cache: {}", what); });
}

}  // namespace

ModuleCodes module_codes(bool cache, bool verbose) {
  return ModuleCodes(read_text, VerdictCache(files_for(cache, verbose)));
}

}  // namespace dj
