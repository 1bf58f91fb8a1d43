// SPDX-License-Identifier: Apache-2.0
// scan_references(): scans the bytes of a whole module for references into marked bytes. It looks
// at every offset, which is quick and gives false finds; the checker confirms each find by
// decoding.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/module.h"
#include "arch/x86_64/reference.h"

namespace dj::arch {

// Returns the references whose target is marked. Looks for immediates in position-dependent modules
// only: in others no immediate can be an address.
std::vector<Reference> scan_references(const ModuleText& text, const ByteSet& marked);

}  // namespace dj::arch
