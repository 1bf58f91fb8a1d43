// Built-ins that walk the program's stack and name its functions, as SystemTap's ucontext-unwind
// and ucontext-symbols tapsets do.
#include "runtime/agent/scratch.h"
#include "runtime/agent/stack_walk.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

// Text that grows in scratch memory; what does not fit is left out by whole lines.
class Listing {
 public:
  explicit Listing(abi::Context* ctx) : ctx_(ctx), made_(agent::long_string_room(ctx, &room_)) {}

  void put(const abi::Str* text) {
    for (uint32_t i = 0; i < text->len; ++i) put(text->data[i]);
  }
  void put(const char* text) {
    for (; *text != '\0'; ++text) put(*text);
  }
  void put(char c) {
    if (used_ < room_) made_->data[used_] = c;
    ++used_;
  }
  void put_hex(uint64_t value) {
    put("0x");
    int shift = 60;
    while (shift > 0 && value >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) put("0123456789abcdef"[value >> shift & 15]);
  }
  // What was put since the last call stays, if it fits.
  void end_item() {
    if (used_ <= room_) {
      kept_ = used_;
    } else {
      used_ = kept_;
      cut_ = true;
    }
  }
  const abi::Str* finish() {
    if (cut_) agent::count_skip(abi::kSkipStringCut);
    if (kept_ == 0) return agent::empty_string();
    made_->len = kept_;
    return agent::keep_string(ctx_, made_);
  }

 private:
  abi::Context* ctx_;
  uint32_t room_ = 0;  // before made_: long_string_room() sets it
  abi::Str* made_;
  uint32_t used_ = 0, kept_ = 0;
  bool cut_ = false;
};

void put_last_component(const abi::Str* path, Listing& to) {
  uint32_t from = path->len;
  while (from > 0 && path->data[from - 1] != '/') --from;
  for (uint32_t i = from; i < path->len; ++i) to.put(path->data[i]);
}

// "name+0x12/0x34 [module]"; without a name "0x55d0 [module+0x5d0]". place: the byte to look up.
void put_symbol(Listing& to, uint64_t address, uint64_t place) {
  agent::StackSymbolAt at = agent::symbol_at(place);
  if (at.name == nullptr) {
    to.put_hex(address);
  } else {
    to.put(at.name);
    to.put('+');
    to.put_hex(at.offset + (address - place));
    if (at.size != 0) {
      to.put('/');
      to.put_hex(at.size);
    }
  }
  if (at.module == nullptr) return;
  to.put(" [");
  to.put(at.module);
  if (at.name == nullptr) {
    to.put('+');
    to.put_hex(at.offset + (address - place));
  }
  to.put(']');
}

void put_line(Listing& to, uint64_t address, uint64_t place) {
  to.put(' ');
  to.put_hex(address);
  to.put(" : ");
  put_symbol(to, address, place);
  to.put('\n');
  to.end_item();
}

const abi::Str* addresses(uint32_t site, abi::Context* ctx, int64_t first, int64_t count) {
  Listing text(ctx);
  agent::StackWalk walk(ctx, site);
  for (int64_t i = 0; i < first + count && walk.next(); ++i) {
    if (i < first) continue;
    if (i > first) text.put(' ');
    text.put_hex(walk.address());
    text.end_item();
  }
  return text.finish();
}

uint32_t digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? static_cast<uint32_t>(c - 'a') + 10 : 16;
}

}  // namespace

const abi::Str* dj_ubacktrace(uint32_t site, abi::Context* ctx) {
  return addresses(site, ctx, 0, INT32_MAX);
}

const abi::Str* dj_ucallers(uint32_t site, abi::Context* ctx, int64_t count) {
  constexpr int64_t kAll = -1;
  return addresses(site, ctx, 0, count == kAll || count > INT32_MAX ? INT32_MAX : count);
}

int64_t dj_ustack(uint32_t site, abi::Context* ctx, int64_t n) {
  agent::StackWalk walk(ctx, site);
  for (int64_t i = 0; walk.next(); ++i) {
    if (i == n) return static_cast<int64_t>(walk.address());
  }
  return 0;
}

int64_t dj_uaddr(uint32_t site) {
  const abi::Header* header = agent::arena();
  if (site >= header->site_count) return 0;
  const auto& info = reinterpret_cast<const abi::SiteInfo*>(header->sites)[site];
  return info.pc == 0 ? 0 : static_cast<int64_t>(info.pc + info.bias);
}

const abi::Str* dj_sprint_ubacktrace(uint32_t site, abi::Context* ctx) {
  Listing text(ctx);
  for (agent::StackWalk walk(ctx, site); walk.next();) put_line(text, walk.address(), walk.place());
  return text.finish();
}

// Names only, one a line.
const abi::Str* dj_sprint_ubacktrace_brief(uint32_t site, abi::Context* ctx) {
  Listing text(ctx);
  for (agent::StackWalk walk(ctx, site); walk.next();) {
    agent::StackSymbolAt at = agent::symbol_at(walk.place());
    if (at.name != nullptr) {
      text.put(at.name);
    } else {
      text.put_hex(walk.address());
    }
    text.put('\n');
    text.end_item();
  }
  return text.finish();
}

// callers: addresses in hexadecimal with blanks between, as ubacktrace() gives them. All but the
// first are return addresses: the byte before belongs to the call.
const abi::Str* dj_sprint_usyms(abi::Context* ctx, const abi::Str* callers) {
  Listing text(ctx);
  uint32_t at = 0;
  bool first = true;
  while (at < callers->len) {
    if (callers->data[at] == '0' && at + 1 < callers->len && callers->data[at + 1] == 'x') at += 2;
    uint64_t address = 0;
    bool any = false;
    for (; at < callers->len && digit(callers->data[at]) < 16; ++at, any = true)
      address = address << 4 | digit(callers->data[at]);
    if (any) put_line(text, address, first ? address : address - 1);
    first = first && !any;
    at += !any || at < callers->len;  // the blank, or what is no digit
  }
  return text.finish();
}

const abi::Str* dj_usymname(abi::Context* ctx, int64_t address) {
  agent::StackSymbolAt at = agent::symbol_at(static_cast<uint64_t>(address));
  if (at.name != nullptr) return at.name;
  Listing text(ctx);
  text.put_hex(static_cast<uint64_t>(address));
  text.end_item();
  return text.finish();
}

const abi::Str* dj_usymdata(abi::Context* ctx, int64_t address) {
  Listing text(ctx);
  put_symbol(text, static_cast<uint64_t>(address), static_cast<uint64_t>(address));
  text.end_item();
  return text.finish();
}

const abi::Str* dj_umodname(abi::Context* ctx, int64_t address) {
  agent::StackSymbolAt at = agent::symbol_at(static_cast<uint64_t>(address));
  Listing text(ctx);
  if (at.module == nullptr) {
    text.put("<unknown>");
  } else {
    put_last_component(at.module, text);
  }
  text.end_item();
  return text.finish();
}
