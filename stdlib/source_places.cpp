// SPDX-License-Identifier: Apache-2.0
// Built-ins that give the source line of an address, by the program's debug info.
#include "runtime/agent/listing.h"
#include "runtime/agent/source_lines.h"
#include "runtime/agent/stack_walk.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

// "file", "line" or "file:line"; the address in hexadecimal where nothing is known, as SystemTap
// gives it.
const abi::Str* source_text(abi::Context* ctx, int64_t address, bool file, bool line) {
  Listing text(ctx);
  agent::SourceLine at = agent::line_at(static_cast<uint64_t>(address), agent::given_to(ctx));
  if (at.file == nullptr) {
    text.put_hex(static_cast<uint64_t>(address));
  } else {
    if (file) text.put(at.file);
    if (file && line) text.put(':');
    if (line) text.put_decimal(at.line);
  }
  text.end_item();
  return text.finish();
}

}  // namespace

const abi::Str* dj_usymfile(abi::Context* ctx, int64_t address) {
  return source_text(ctx, address, true, false);
}

const abi::Str* dj_usymline(abi::Context* ctx, int64_t address) {
  return source_text(ctx, address, false, true);
}

const abi::Str* dj_usymfileline(abi::Context* ctx, int64_t address) {
  return source_text(ctx, address, true, true);
}
