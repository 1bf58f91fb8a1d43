// SPDX-License-Identifier: Apache-2.0
// Each process of a session has the arena's constants for itself, beside the data that all share:
// its numbers, its load biases, its trap table. Those of the session's first process are the
// original, in which djtap reads. format_joined() makes those of a further process.
#pragma once
#include <cstdint>

#include "compiler/stages/layout.h"
#include "runtime/memory/arena_format.h"
#include "runtime/shared/abi.h"

namespace dj {

// Fills the constants of a further process: `constants` is the address of djtap's view of them,
// which is zero. header: of the session, as format_arena() returned it. sites: how many SiteInfos
// the session uses. facts: of this process, with a ticket and stack tables of its own.
void format_joined(uint64_t constants, const Layout& layout, const abi::Header& header,
                   uint64_t sites, const SessionFacts& facts);

// Returns how many bytes the constant texts of the session take.
uint64_t texts_used(const abi::Header& header);
// Copies to a further process what a later plan has added: the constant texts behind the first
// `texts` bytes, since a key of an array may name each of them, whichever process has written it;
// and the SiteInfos from `first_site` to `sites`, without the biases of their modules.
void copy_plan(uint64_t constants, const abi::Header& header, uint64_t texts, uint64_t first_site,
               uint64_t sites);

}  // namespace dj
