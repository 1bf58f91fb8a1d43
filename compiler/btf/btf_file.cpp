// SPDX-License-Identifier: Apache-2.0
// Reads with libbpf. Its search by name looks at all types; a listing asks for thousands of
// functions, so their names are sorted here.
#include "compiler/btf/btf_file.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compiler/btf/type_name.h"

namespace dj {

namespace {

Error why_not_read(const std::string& path, int number) {
  if (number == ENOENT) return Error{"there is no " + path, Fail::NotFound};
  if (number == EACCES || number == EPERM)
    return Error{fmt::format("{} cannot be read: {}", path, strerror(number)), Fail::Permission};
  return Error{fmt::format("{} is no BTF that libbpf {} can read", path, libbpf_version_string())};
}

}  // namespace

void BtfFile::Free::operator()(btf* types) const { btf__free(types); }

Result<BtfFile> BtfFile::read(const std::string& path, const BtfFile* base) {
  libbpf_set_print(nullptr);  // it writes to stderr by itself
  btf* types = base != nullptr ? btf__parse_split(path.c_str(), base->types_.get())
                               : btf__parse(path.c_str(), nullptr);
  if (types == nullptr) return why_not_read(path, errno);
  BtfFile file(types);
  file.index_functions(base);
  return file;
}

void BtfFile::index_functions(const BtfFile* base) {
  const uint32_t first = base != nullptr ? btf__type_cnt(base->types_.get()) : 1;
  const uint32_t end = btf__type_cnt(types_.get());
  for (uint32_t number = first; number < end; number++) {
    const btf_type* type = btf__type_by_id(types_.get(), number);
    if (type == nullptr || !btf_is_func(type)) continue;
    const char* name = btf__name_by_offset(types_.get(), type->name_off);
    if (name != nullptr && *name != 0) functions_.emplace_back(name, type->type);
  }
  std::ranges::sort(functions_);
}

Prototype BtfFile::prototype_of(uint32_t function) const {
  Prototype prototype;
  const btf_type* type = btf__type_by_id(types_.get(), function);
  if (type == nullptr || !btf_is_func_proto(type)) return prototype;
  const btf_param* parameters = btf_params(type);
  for (int i = 0; i < btf_vlen(type); i++) {
    const char* name = btf__name_by_offset(types_.get(), parameters[i].name_off);
    if (parameters[i].type == 0 || name == nullptr || *name == 0) continue;
    prototype.parameters.push_back({name, btf_type_name(types_.get(), parameters[i].type)});
  }
  if (type->type != 0) prototype.returns = btf_type_name(types_.get(), type->type);
  return prototype;
}

std::optional<Prototype> BtfFile::prototype(std::string_view function) const {
  const auto [first, last] = std::ranges::equal_range(
      functions_, function, {}, &std::pair<std::string_view, uint32_t>::first);
  if (first == last) return std::nullopt;
  const Prototype found = prototype_of(first->second);
  const bool differ = std::any_of(first + 1, last, [&](const auto& other) {
    return other.second != first->second && prototype_of(other.second) != found;
  });
  return differ ? std::nullopt : std::optional(found);
}

}  // namespace dj
