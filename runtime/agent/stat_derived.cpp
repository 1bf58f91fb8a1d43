// What is computed from the words behind an aggregate: variance, percentiles, single buckets.
#include "runtime/agent/arena.h"
#include "runtime/shared/entries.h"
#include "runtime/shared/stat.h"

using namespace dj;

namespace {

// The rows of a scalar aggregate, or one element's Stat (stride 0; null: there is none).
struct Rows {
  const abi::Stat* first;
  uint32_t stride;
  uint32_t count() const {
    return first == nullptr ? 0 : stride == 0 ? 1 : agent::arena()->cpus + 1;
  }
  abi::Stat* operator[](uint32_t i) const {
    return const_cast<abi::Stat*>(abi::stat_row(first, stride, i));
  }
};

// wide / divisor with divisor != 0: the processor's 128-bit division, twice.
unsigned __int128 divide(unsigned __int128 wide, uint64_t divisor) {
  auto high = static_cast<uint64_t>(wide >> 64), low = static_cast<uint64_t>(wide);
  uint64_t rest = high % divisor, quotient;
  asm("divq %4" : "=a"(quotient), "=d"(rest) : "0"(low), "1"(rest), "r"(divisor) : "cc");
  return static_cast<unsigned __int128>(high / divisor) << 64 | quotient;
}

// Of a sample, exact while the sum fits 64 bits and the sum of the squares 128: (Q - S*S/n) /
// (n-1).
int64_t variance(Rows rows, const abi::StatShape& shape, const abi::StatTotal& total) {
  if (total.count < 2) return 0;
  unsigned __int128 squares = 0;
  for (uint32_t i = 0; i < rows.count(); ++i) {
    const uint64_t* words = abi::stat_squares(rows[i], shape);
    squares += static_cast<unsigned __int128>(words[1]) << 64 | words[0];
  }
  auto count = static_cast<uint64_t>(total.count);
  auto sum = static_cast<uint64_t>(total.sum < 0 ? -static_cast<unsigned __int128>(total.sum)
                                                 : static_cast<unsigned __int128>(total.sum));
  unsigned __int128 mean = divide(static_cast<unsigned __int128>(sum) * sum + count - 1, count);
  return squares < mean ? 0 : static_cast<int64_t>(divide(squares - mean, count - 1));
}

uint64_t per_mille(uint32_t op) {
  switch (op) {
    case abi::kStatP50:
      return 500;
    case abi::kStatP90:
      return 900;
    case abi::kStatP95:
      return 950;
    case abi::kStatP99:
      return 990;
    default:
      return 999;
  }
}

// The least value that so many of the samples do not exceed.
int64_t percentile(Rows rows, const abi::StatShape& shape, const abi::StatTotal& total,
                   uint32_t op) {
  auto count = static_cast<uint64_t>(total.count), seen = uint64_t{0};
  uint64_t wanted = count / 1000 * per_mille(op) + (count % 1000 * per_mille(op) + 999) / 1000;
  for (uint32_t bucket = 0; bucket < abi::kFineBuckets; ++bucket) {
    for (uint32_t i = 0; i < rows.count(); ++i) {
      seen += static_cast<uint64_t>(abi::stat_fine(rows[i], shape)[bucket]);
    }
    if (seen < wanted) continue;
    int64_t value = abi::fine_value(bucket);
    return value < total.min ? total.min : value > total.max ? total.max : value;
  }
  return total.max;
}

}  // namespace

int64_t dj_stat_derived(const abi::Stat* rows, uint32_t stride, const abi::StatShape* shape,
                        uint32_t op, uint32_t* empty) {
  Rows all = {rows, stride};
  abi::StatTotal total;
  for (uint32_t i = 0; i < all.count(); ++i) total.add(*all[i]);
  *empty = total.count == 0;
  if (total.count == 0) return 0;
  return op == abi::kStatVariance ? variance(all, *shape, total)
                                  : percentile(all, *shape, total, op);
}

// Logarithmic buckets are numbered as SystemTap's: 64 is the value 0, 65 the value 1, 66 is 2
// and 3.
int64_t dj_stat_bucket(const abi::Stat* rows, uint32_t stride, const abi::StatShape* shape,
                       uint32_t linear, int64_t index, uint32_t* bad) {
  Rows all = {rows, stride};
  *bad = index < 0 || index >= (linear ? int64_t{shape->linear_count} : abi::kLogShown);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < all.count() && !*bad; ++i) {
    const int64_t* words = linear ? abi::stat_linear(all[i], *shape) : abi::stat_log(all[i]) + 1;
    sum += static_cast<uint64_t>(words[index]);
  }
  return static_cast<int64_t>(sum);
}
