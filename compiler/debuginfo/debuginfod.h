// SPDX-License-Identifier: Apache-2.0
// Asks debuginfod servers (DEBUGINFOD_URLS) for a file's separate debug file, as gdb and libdw do.
#pragma once
#include <string>

namespace dj {

// The path of the debug file of that build id (hex) in the client's cache. Empty: no servers are
// named, they have none, or libdebuginfod is not installed. May take as long as a download; each
// build id is asked for once. Any thread may call it.
std::string debug_file_of_servers(const std::string& build_id);

}  // namespace dj
