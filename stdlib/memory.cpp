// Built-ins that read strings of the program's memory.
#include "runtime/agent/scratch.h"
#include "runtime/agent/user_memory.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

// Copies from `address` to `made` up to a NUL or `limit` bytes, page by page. False: raised.
bool copy_string(abi::Context* ctx, abi::Str* made, uint64_t address, uint32_t limit) {
  uint32_t length = 0;
  bool ended = false;
  while (length < limit && !ended) {
    uint64_t from = address + length, to_page_end = agent::kPageBytes - from % agent::kPageBytes;
    uint32_t rest = limit - length;
    uint32_t bytes = rest < to_page_end ? rest : static_cast<uint32_t>(to_page_end);
    if (!agent::can_read(made->data + length, from, bytes)) {
      dj_raise(ctx, ctx->site, ctx->span, abi::kErrBadAddress, static_cast<int64_t>(from));
      return false;
    }
    for (uint32_t i = 0; i < bytes && !ended; ++i) {
      ended = made->data[length] == '\0';
      length += !ended;
    }
  }
  made->len = length;
  return true;
}

// Whether the text goes on behind what was kept.
bool goes_on(uint64_t address, uint32_t kept) {
  char next = '\0';
  return agent::can_read(&next, address + kept, 1) && next != '\0';
}

const abi::Str* read_string(abi::Context* ctx, uint64_t address, uint32_t limit, bool whole) {
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  if (!copy_string(ctx, made, address, limit)) return agent::empty_string();
  if (whole && made->len == limit && goes_on(address, limit))
    agent::count_skip(abi::kSkipStringCut);
  return made->len == 0 ? agent::empty_string() : agent::keep_string(ctx, made);
}

}  // namespace

const abi::Str* dj_user_string(abi::Context* ctx, int64_t address) {
  return read_string(ctx, static_cast<uint64_t>(address), agent::arena()->max_string, true);
}

const abi::Str* dj_user_string_n(abi::Context* ctx, int64_t address, int64_t length) {
  uint32_t max = agent::arena()->max_string;
  if (length <= 0) return agent::empty_string();
  if (length > max) return read_string(ctx, static_cast<uint64_t>(address), max, true);
  return read_string(ctx, static_cast<uint64_t>(address), static_cast<uint32_t>(length), false);
}
