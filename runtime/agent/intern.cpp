// SPDX-License-Identifier: Apache-2.0
// Strings: interning, comparing, joining, sprintf.
#include "runtime/agent/scratch.h"
#include "runtime/shared/format.h"

using namespace dj;

const abi::Str* dj_intern(const abi::Str* s) {
  const abi::Header* header = agent::arena();
  if (abi::is_interned(header, s)) return s;
  const abi::Text text = abi::text_of(s);
  const abi::Str* kept = abi::strings_intern(header, text.data, text.len);
  if (kept != nullptr) return kept;
  agent::count_skip(abi::kSkipStringBudget);
  return agent::empty_string();
}

uint32_t dj_str_equal(const abi::Str* a, const abi::Str* b) {
  const abi::Text text = abi::text_of(b);
  return a == b || abi::same_bytes(abi::text_of(a), text.data, text.len);
}

int64_t dj_str_compare(const abi::Str* left, const abi::Str* right) {
  const abi::Text a = abi::text_of(left), b = abi::text_of(right);
  uint32_t common = a.len < b.len ? a.len : b.len;
  for (uint32_t i = 0; i < common; ++i) {
    int difference = static_cast<unsigned char>(a.data[i]) - static_cast<unsigned char>(b.data[i]);
    if (difference != 0) return difference;
  }
  return static_cast<int64_t>(a.len) - static_cast<int64_t>(b.len);
}

const abi::Str* dj_str_concat(abi::Context* ctx, const abi::Str* left, const abi::Str* right) {
  const abi::Text a = abi::text_of(left), b = abi::text_of(right);
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  uint32_t max = agent::arena()->max_string;
  uint32_t from_a = a.len < max ? a.len : max;
  uint32_t from_b = b.len < max - from_a ? b.len : max - from_a;
  if (from_a != a.len || from_b != b.len) agent::count_skip(abi::kSkipStringCut);
  for (uint32_t i = 0; i < from_a; ++i) made->data[i] = a.data[i];
  for (uint32_t i = 0; i < from_b; ++i) made->data[from_a + i] = b.data[i];
  made->len = from_a + from_b;
  return agent::keep_string(ctx, made);
}

const abi::Str* dj_sprintf(abi::Context* ctx, const abi::Str* form, const uint64_t* args,
                           uint32_t count) {
  const abi::Text format = abi::text_of(form);
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  abi::FormatArg given[abi::kMaxEventArgs];
  uint32_t strings = abi::format_strings(format.data, format.len);
  for (uint32_t i = 0; i < count && i < abi::kMaxEventArgs; ++i) {
    given[i] = {args[i], nullptr, 0};
    if ((strings >> i & 1) == 0) continue;
    const abi::Text text = abi::text_of(reinterpret_cast<const abi::Str*>(args[i]));
    given[i] = {0, text.data, text.len};
  }
  uint32_t max = agent::arena()->max_string;
  uint64_t length = abi::format_text(made->data, max, format.data, format.len, given, count);
  if (length > max) agent::count_skip(abi::kSkipStringCut);
  made->len = static_cast<uint32_t>(length < max ? length : max);
  return agent::keep_string(ctx, made);
}
