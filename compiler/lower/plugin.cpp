// SPDX-License-Identifier: Apache-2.0
// What libdjtap_lower.so exports.
#include "compiler/lower/emit.h"
#include "compiler/stages/lowering.h"

extern "C" {
extern const dj::Lowering dj_lowering;
const dj::Lowering dj_lowering = {dj::lower, dj::link, dj::link_bytes, dj::link_host,
                                  dj::ir::warm_up};
}
