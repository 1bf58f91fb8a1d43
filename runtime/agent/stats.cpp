// hot: Scalar aggregates: one Stat per CPU, every word changed by a locked instruction of its own.
#include "runtime/agent/stat_add.h"

using namespace dj;

void dj_stat_add(abi::Stat* rows, uint32_t stride, const abi::StatShape* shape, int64_t sample) {
  agent::stat_add(abi::stat_row(rows, stride, agent::current_row()), *shape, sample);
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
