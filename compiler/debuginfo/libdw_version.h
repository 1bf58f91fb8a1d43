// SPDX-License-Identifier: Apache-2.0
// The version of the libdw that djtap runs with.
#pragma once

namespace dj {

const char* libdw_version();  // "0.188"

}  // namespace dj
