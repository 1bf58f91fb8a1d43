// Forked children tell djtap that they begin and that they end, so that it knows of those that end
// without a word.
#include "runtime/agent/event_record.h"
#include "runtime/agent/thread.h"

using namespace dj;

namespace {

void tell(abi::EventKind kind) {
  agent::Record record;
  if (!record.open(0, kind, 0)) return;
  record.head().format = agent::process_id();
  record.commit();
}

}  // namespace

void dj_forked_begins() { tell(abi::kEventChildBegins); }
void dj_forked_ends() { tell(abi::kEventChildEnds); }
