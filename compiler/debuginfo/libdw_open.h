// SPDX-License-Identifier: Apache-2.0
// Makes libdw open the files that debug information names as target_file.h opens them, and keeps it
// from asking debuginfod servers by itself.
#pragma once

namespace dj {

// To be called before libdw is used: links the definitions of open() and dlopen()
// that libdw meets.
void guard_libdw();

}  // namespace dj
