// SPDX-License-Identifier: Apache-2.0
// Built-ins that tell djtap something: warnings, commands for its shell, another output file, the
// session's end.
#include "runtime/agent/event_record.h"
#include "runtime/agent/scratch.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

void send_text(uint32_t site, abi::EventKind kind, const abi::Str* said) {
  const abi::Text text = abi::text_of(said);
  agent::Record record;
  if (!record.open(text.len, kind, site)) return;
  record.head().format = text.len;
  for (uint32_t i = 0; i < text.len; ++i) record.payload()[i] = text.data[i];
  record.commit();
}

}  // namespace

void dj_warn(uint32_t site, const abi::Str* text) { send_text(site, abi::kEventWarn, text); }
void dj_system(uint32_t site, const abi::Str* command) {
  send_text(site, abi::kEventSystem, command);
}

void dj_switch_file(uint32_t site) {
  agent::Record record;
  if (record.open(0, abi::kEventSwitchFile, site)) record.commit();
}

// The handler ends here, whatever `try` it is in, and the session soon.
void dj_abort(abi::Context* ctx) {
  dj_exit();
  ctx->raised = abi::kAborted;
}

void dj_exit() { __atomic_store_n(&agent::words().exit_requested, 1, __ATOMIC_RELEASE); }
