// SPDX-License-Identifier: Apache-2.0
// hot: Scalar aggregates: one Stat per CPU. Where nothing is ever taken out of them (kStatGrows)
// words are added to in restartable sequences, else by a locked instruction each: who takes out
// stores to the rows of all CPUs.
#include "runtime/agent/stat_add.h"

using namespace dj;

namespace {

// Adds to the word of this CPU's row, or to the last row's, which is everybody's.
struct RowAdd {
  uint64_t rows, row;  // addresses of row 0 and of the row that the words are given in
  uint32_t stride;
  void operator()(int64_t* word, int64_t n) const {
    uint64_t first = reinterpret_cast<uint64_t>(word) - row + rows;
    auto shift = static_cast<uint32_t>(__builtin_ctz(stride));
    if (dj_has_rseq && agent::rseq_add(first, shift, n)) return;
    uint64_t last = first + (uint64_t{agent::arena()->cpus} << shift);
    agent::LockedAdd{}(reinterpret_cast<int64_t*>(last), n);
  }
};

}  // namespace

void dj_stat_add(abi::Stat* rows, uint32_t stride, const abi::StatShape* shape, int64_t sample) {
  abi::Stat* row = abi::stat_row(rows, stride, agent::current_row());
  if ((shape->extras & abi::kStatGrows) == 0) return agent::stat_add(row, *shape, sample);
  agent::stat_add(
      row, *shape, sample,
      RowAdd{reinterpret_cast<uint64_t>(rows), reinterpret_cast<uint64_t>(row), stride});
}

int64_t dj_stat_read(const abi::Stat* rows, uint32_t stride, uint32_t op, uint32_t* empty) {
  abi::StatTotal total = abi::stat_total(rows, stride, agent::arena()->cpus + 1);
  *empty = total.count == 0;
  return total.get(op);
}

void dj_stat_clear(abi::Stat* rows, uint32_t stride, const abi::StatShape* shape) {
  for (uint32_t row = 0; row <= agent::arena()->cpus; ++row) {
    auto* words = reinterpret_cast<uint64_t*>(abi::stat_row(rows, stride, row));
    for (uint32_t i = 0; i < shape->bytes / 8; ++i) {
      __atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
    }
  }
}
