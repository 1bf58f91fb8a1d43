// SPDX-License-Identifier: Apache-2.0
// report_globals() writes globals when the session ends, as text, JSON or CSV.
#pragma once
#include <span>
#include <vector>

#include "compiler/stages/layout.h"
#include "compiler/stages/program.h"
#include "runtime/output/global_values.h"
#include "runtime/output/output.h"

namespace dj {

enum class ReportFormat : uint8_t { Text, Json, Csv };

// Returns the globals that the script writes and never reads: SystemTap shows them at the end of a
// session. Reads the arena at layout.base.
std::vector<GlobalValue> unread_globals(const Program& program, const Layout& layout);

// Text is SystemTap's: name=5, name["key",1]=4 by descending value, name @count=4 @min=1 @max=4
// @sum=10 @avg=2. Json is one object on one line, arrays as lists of {"key":[..],"value":..},
// aggregates as objects. Csv has lines name,key..,value; an aggregate has one line for each of
// name@count, name@min, name@max, name@sum, name@avg.
void report_globals(std::span<const GlobalValue> globals, ReportFormat format, Output& output);

}  // namespace dj
