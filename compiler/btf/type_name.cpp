// SPDX-License-Identifier: Apache-2.0
// Walks from a type to those that it is made of.
#include "compiler/btf/type_name.h"

#include <fmt/format.h>

namespace dj {

namespace {

constexpr int kDeepest = 64;  // BTF is a file: its types may lead in a circle

class TypeNames {
 public:
  explicit TypeNames(const btf* types) : types_(types) {}

  std::string name(uint32_t number, int depth) const {
    if (number == 0) return "void";
    const btf_type* type = depth < kDeepest ? btf__type_by_id(types_, number) : nullptr;
    if (type == nullptr) return "?";
    switch (btf_kind(type)) {
      case BTF_KIND_PTR:
        return pointer(type->type, depth + 1);
      case BTF_KIND_ARRAY:
        return array(type, depth + 1);
      case BTF_KIND_STRUCT:
        return tagged("struct", type);
      case BTF_KIND_UNION:
        return tagged("union", type);
      case BTF_KIND_ENUM:
      case BTF_KIND_ENUM64:
        return tagged("enum", type);
      case BTF_KIND_FWD:
        return tagged(btf_kflag(type) ? "union" : "struct", type);
      case BTF_KIND_CONST:
        return qualified("const", type->type, depth + 1);
      case BTF_KIND_VOLATILE:
        return qualified("volatile", type->type, depth + 1);
      case BTF_KIND_RESTRICT:
      case BTF_KIND_TYPE_TAG:
        return name(type->type, depth + 1);
      case BTF_KIND_FUNC_PROTO:
        return function(type, "", depth + 1);
      case BTF_KIND_INT:
      case BTF_KIND_FLOAT:
      case BTF_KIND_TYPEDEF:
        return own_name(type).empty() ? "?" : own_name(type);
      default:
        return "?";
    }
  }

 private:
  std::string own_name(const btf_type* type) const {
    const char* name = btf__name_by_offset(types_, type->name_off);
    return name != nullptr ? name : "";
  }

  std::string tagged(const char* keyword, const btf_type* type) const {
    const std::string name = own_name(type);
    return fmt::format("{} {}", keyword, name.empty() ? "{...}" : name);
  }

  // The type of that number; of one with a tag of clang's ("user", "rcu"), the type behind it.
  const btf_type* untagged(uint32_t number) const {
    const btf_type* type = btf__type_by_id(types_, number);
    for (int i = 0; type != nullptr && btf_is_type_tag(type) && i < kDeepest; i++)
      type = btf__type_by_id(types_, type->type);
    return type;
  }

  std::string pointer(uint32_t to, int depth) const {
    const btf_type* target = untagged(to);
    if (target != nullptr && btf_is_func_proto(target)) return function(target, "*", depth);
    return name(to, depth) + "*";
  }

  std::string qualified(const std::string& word, uint32_t inner, int depth) const {
    std::string text = name(inner, depth);
    if (text.starts_with(word)) return text;  // an array of const elements is const itself
    const btf_type* type = untagged(inner);
    return inner != 0 && type != nullptr && btf_is_ptr(type) ? text + " " + word
                                                             : word + " " + text;
  }

  // An array of arrays is one with several dimensions, the outermost first.
  std::string array(const btf_type* type, int depth) const {
    std::string dimensions;
    uint32_t element = 0;
    for (; type != nullptr && btf_is_array(type) && depth < kDeepest; depth++) {
      const uint32_t count = btf_array(type)->nelems;
      dimensions += count == 0 ? "[]" : fmt::format("[{}]", count);
      element = btf_array(type)->type;
      type = btf__type_by_id(types_, element);
    }
    return name(element, depth) + dimensions;
  }

  // `mark`: "*" of a pointer to such functions.
  std::string function(const btf_type* type, const std::string& mark, int depth) const {
    std::string text = name(type->type, depth) + (mark.empty() ? " (" : " (" + mark + ")(");
    const btf_param* parameters = btf_params(type);
    for (int i = 0; i < btf_vlen(type); i++) {
      if (parameters[i].type == 0) break;  // "..."
      text += (i == 0 ? "" : ", ") + name(parameters[i].type, depth);
    }
    return text + ")";
  }

  const btf* types_;
};

}  // namespace

std::string btf_type_name(const btf* types, uint32_t number) {
  return TypeNames(types).name(number, 0);
}

}  // namespace dj
