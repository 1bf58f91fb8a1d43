// SPDX-License-Identifier: Apache-2.0
// Built-ins that walk the program's stack and name its functions, as SystemTap's ucontext-unwind
// and ucontext-symbols tapsets do.
#include "runtime/agent/listing.h"
#include "runtime/agent/source_lines.h"
#include "runtime/agent/stack_walk.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

void put_last_component(const abi::Str* name, Listing& to) {
  const abi::Text path = abi::text_of(name);
  uint32_t from = path.len;
  while (from > 0 && path.data[from - 1] != '/') --from;
  for (uint32_t i = from; i < path.len; ++i) to.put(path.data[i]);
}

// "name+0x12/0x34"; without a name "0x55d0".
void put_name(Listing& to, const agent::StackSymbolAt& at, uint64_t address, uint64_t place) {
  if (at.name == nullptr) return to.put_hex(address);
  to.put(at.name);
  to.put('+');
  to.put_hex(at.offset + (address - place));
  if (at.size == 0) return;
  to.put('/');
  to.put_hex(at.size);
}

// " [module]"; without a name " [module+0x5d0]".
void put_module(Listing& to, const agent::StackSymbolAt& at, uint64_t address, uint64_t place) {
  if (at.module == nullptr) return;
  to.put(" [");
  to.put(at.module);
  if (at.name == nullptr) {
    to.put('+');
    to.put_hex(at.offset + (address - place));
  }
  to.put(']');
}

// " at file:line", where that is known.
void put_source(Listing& to, agent::SourceLine line) {
  if (line.file == nullptr) return;
  to.put(" at ");
  to.put(line.file);
  to.put(':');
  to.put_decimal(line.line);
}

void begin_line(Listing& to, uint64_t address) {
  to.put(' ');
  to.put_hex(address);
  to.put(" : ");
}

void end_line(Listing& to, const agent::StackSymbolAt& at, uint64_t address, uint64_t place) {
  put_module(to, at, address, place);
  to.put('\n');
  to.end_item();
}

// An entry probe stands behind endbr64 at the latest: what was inlined into the function does not
// run yet, though its code may begin there.
constexpr uint64_t kEntryBytes = 4;

// The function at `address`, below what was inlined there. place: the byte to look up; unwanted: as
// symbol_at() has it.
void put_frame(Listing& to, uint64_t address, uint64_t place, uint32_t unwanted, bool lines) {
  agent::StackSymbolAt at = agent::symbol_at(place, unwanted);
  agent::InlinedAt inlined(place, unwanted);
  bool entry = address == place && at.name != nullptr && at.offset <= kEntryBytes;
  while (inlined.next()) {
    if (entry) continue;
    begin_line(to, address);
    to.put(inlined.name());
    put_source(to, inlined.line());
    to.put(" (inlined)");
    end_line(to, at, address, place);
  }
  begin_line(to, address);
  put_name(to, at, address, place);
  if (lines) put_source(to, entry ? agent::line_at(place, unwanted) : inlined.line());
  end_line(to, at, address, place);
}

const abi::Str* backtrace(uint32_t site, abi::Context* ctx, bool lines) {
  Listing text(ctx);
  for (agent::StackWalk walk(ctx, site); walk.next();)
    put_frame(text, walk.address(), walk.place(), agent::kWalkedNow, lines);
  return text.finish();
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
  constexpr int64_t kAll = -1;  // else so many levels below the first
  return addresses(site, ctx, 0, count == kAll || count >= INT32_MAX ? INT32_MAX : count + 1);
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
  const abi::SiteInfo& info = header->sites.get(agent::place())[site];
  return info.pc == 0 ? 0 : static_cast<int64_t>(info.pc + info.bias);
}

const abi::Str* dj_sprint_ubacktrace(uint32_t site, abi::Context* ctx) {
  return backtrace(site, ctx, false);
}

const abi::Str* dj_sprint_ubacktrace_fileline(uint32_t site, abi::Context* ctx) {
  return backtrace(site, ctx, true);
}

// "name+0x12", one a line.
const abi::Str* dj_sprint_ubacktrace_brief(uint32_t site, abi::Context* ctx) {
  Listing text(ctx);
  for (agent::StackWalk walk(ctx, site); walk.next();) {
    agent::StackSymbolAt at = agent::symbol_at(walk.place(), agent::kWalkedNow);
    at.size = 0;
    put_name(text, at, walk.address(), walk.place());
    text.put('\n');
    text.end_item();
  }
  return text.finish();
}

// given: addresses in hexadecimal with blanks between, as ubacktrace() gives them. All but the
// first are return addresses: the byte before belongs to the call.
const abi::Str* dj_sprint_usyms(abi::Context* ctx, const abi::Str* given) {
  const abi::Text callers = abi::text_of(given);
  Listing text(ctx);
  uint32_t at = 0;
  bool first = true;
  while (at < callers.len) {
    if (callers.data[at] == '0' && at + 1 < callers.len && callers.data[at + 1] == 'x') at += 2;
    uint64_t address = 0;
    bool any = false;
    for (; at < callers.len && digit(callers.data[at]) < 16; ++at, any = true)
      address = address << 4 | digit(callers.data[at]);
    if (any) put_frame(text, address, first ? address : address - 1, agent::given_to(ctx), false);
    first = first && !any;
    at += !any || at < callers.len;  // the blank, or what is no digit
  }
  return text.finish();
}

const abi::Str* dj_usymname(abi::Context* ctx, int64_t address) {
  agent::StackSymbolAt at = agent::symbol_at(static_cast<uint64_t>(address), agent::given_to(ctx));
  if (at.name != nullptr) return at.name;
  Listing text(ctx);
  text.put_hex(static_cast<uint64_t>(address));
  text.end_item();
  return text.finish();
}

const abi::Str* dj_usymdata(abi::Context* ctx, int64_t address) {
  Listing text(ctx);
  auto place = static_cast<uint64_t>(address);
  agent::StackSymbolAt at = agent::symbol_at(place, agent::given_to(ctx));
  put_name(text, at, place, place);
  put_module(text, at, place, place);
  text.end_item();
  return text.finish();
}

// From the first byte of the object that the address lies in.
int64_t dj_umodaddr(abi::Context* ctx, int64_t address) {
  const uint64_t place = static_cast<uint64_t>(address);
  const uint64_t begin = agent::module_begin(place, agent::given_to(ctx));
  if (begin != 0) return static_cast<int64_t>(place - begin);
  Listing text(ctx);
  text.put("no object of the program is at ");
  text.put_hex(place);
  text.end_item();
  dj_user_error(ctx, text.finish());
  return 0;
}

const abi::Str* dj_umodname(abi::Context* ctx, int64_t address) {
  agent::StackSymbolAt at = agent::symbol_at(static_cast<uint64_t>(address), agent::given_to(ctx));
  Listing text(ctx);
  if (at.module == nullptr) {
    text.put("<unknown>");
  } else {
    put_last_component(at.module, text);
  }
  text.end_item();
  return text.finish();
}
