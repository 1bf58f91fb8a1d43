// Globals that were written and never read, shown when the session ends: as text, JSON or CSV.
#pragma once
#include "compiler/layout.h"
#include "compiler/program.h"
#include "runtime/control/output.h"

namespace dj {

enum class ReportFormat : uint8_t { Text, Json, Csv };

// Text is SystemTap's: name=5, name["key",1]=4 by descending value, name @count=4 @min=1 @max=4
// @sum=10 @avg=2. Json is one object on one line, arrays as lists of {"key":[..],"value":..},
// aggregates as objects. Csv has lines name,key..,value; an aggregate has one line for each of
// name@count, name@min, name@max, name@sum, name@avg. Reads the arena at layout.base.
void report_globals(const Program& program, const Layout& layout, ReportFormat format,
                    Output& output);

}  // namespace dj
