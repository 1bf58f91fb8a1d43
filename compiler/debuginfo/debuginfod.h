// SPDX-License-Identifier: Apache-2.0
// Asks debuginfod servers for separate debug files, by build id (compiler/stages/debug_servers.h).
#pragma once
#include <memory>
#include <string>

#include "compiler/debuginfo/object_file.h"

namespace dj {

// The debug file of that build id (hex), from the client's cache or from a server; null: there is
// none. name: the object that wants it, for people. May take as long as a download, but behind
// ask_debug_servers_beside(); asks once for each build id, and no longer when a server has failed:
// has not answered, or has sent another file. Any thread may call it.
std::shared_ptr<ObjectFile> ask_for_debug_file(const std::string& build_id,
                                               const std::string& name);
// What ask_for_debug_file() has brought of that build id; null: nothing.
std::shared_ptr<ObjectFile> brought_debug_file(const std::string& build_id);

// Where the client's cache has that file, by its build id; empty: it has none. Asks nobody.
std::string kept_debug_file(const std::string& build_id);

}  // namespace dj
