// SPDX-License-Identifier: Apache-2.0
// The table of -t: how often each probe was hit and skipped, and how long its handler ran.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/diag/source.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/program.h"

namespace dj {

// times: by ProbeId, aggregates of cycles in the arena at layout.base. A probe is called as the
// script writes it. On stderr, the probe that took most time first; nanoseconds, or cycles where
// the processor's counter is no clock.
void report_times(const std::vector<GlobalId>& times, const Program& program,
                  const Sources& sources, const Layout& layout);

// Cycles of the processor's counter as nanoseconds; as they are where it is no clock.
int64_t to_ns(int64_t cycles, const Layout& layout);
// 'func("f").return at trace.djt:3:7'
std::string label_of(const Probe& probe, const Sources& sources);

}  // namespace dj
