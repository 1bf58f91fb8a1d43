// SPDX-License-Identifier: Apache-2.0
// A byte scan over a whole module for references into marked bytes: quick, and with false finds,
// because it looks at every offset. The checker confirms each by decoding.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/module.h"
#include "arch/x86_64/reference.h"

namespace dj::arch {

// Immediates are looked for in position-dependent modules only: elsewhere none can be an address.
// The targets of those found are marked.
std::vector<Reference> scan_references(const ModuleText& text, const ByteSet& marked);

}  // namespace dj::arch
