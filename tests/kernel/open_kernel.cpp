// SPDX-License-Identifier: Apache-2.0
// For tests: opens the running kernel as a session does, and says which module it got.
//
//   open_kernel [NAME=PATH …]   other places than usual: modules, kept, headers
//   open_kernel where …         says where a module is kept, and loads nothing
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "runtime/kernel/module_build.h"
#include "runtime/kernel/module_load.h"

namespace dj {
namespace {

Status run(int count, char** words) {
  ModuleFiles files;
  const std::map<std::string, std::string*> places = {
      {"modules", &files.modules}, {"kept", &files.kept}, {"headers", &files.headers}};
  const bool where = count > 1 && strcmp(words[1], "where") == 0;
  for (int i = where ? 2 : 1; i < count; ++i) {
    const std::string word = words[i];
    const size_t equals = word.find('=');
    const auto place = places.find(word.substr(0, equals));
    if (equals == std::string::npos || place == places.end()) return Error{"what is " + word};
    *place->second = word.substr(equals + 1);
  }
  if (where) {
    DJ_TRY(const ModuleRecipe recipe, module_recipe(files));
    std::printf("%s\n", recipe.kept().c_str());
    return ok_status();
  }
  sigset_t none;
  sigemptyset(&none);
  DJ_TRY(const std::unique_ptr<KernelLink> link, open_kernel(files, none));
  DJ_TRY(const djtap_hello hello, link->hello());
  std::printf("interface %u\n", hello.abi);
  return ok_status();
}

}  // namespace
}  // namespace dj

int main(int count, char** words) {
  const dj::Status status = dj::run(count, words);
  if (!status.ok()) std::fprintf(stderr, "open_kernel: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
