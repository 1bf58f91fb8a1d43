// SPDX-License-Identifier: Apache-2.0
// Histograms as strings of the script: sprint(@hist_log(x)). The words of the aggregate are added
// up in scratch memory first; others may add to it meanwhile.
#include "runtime/shared/histogram_text.h"

#include "runtime/agent/listing.h"
#include "runtime/agent/map_walk.h"
#include "runtime/agent/scratch.h"

using namespace dj;

namespace {

class Words {
 public:
  Words(abi::Context* ctx, const abi::StatShape& shape, uint32_t form)
      : ctx_(ctx), shape_(shape), form_(form), count_(abi::hist_count(shape, form)) {
    const uint64_t bytes = 8ull * count_;
    const uint32_t before = ctx->iterators;
    if (ctx->scratch_used + bytes > before) {
      agent::count_skip(abi::kSkipStringBudget);
      return;
    }
    ctx->iterators = (before - static_cast<uint32_t>(bytes)) & ~7u;
    taken_ = before - ctx->iterators;
    words_ = reinterpret_cast<int64_t*>(ctx->scratch + ctx->iterators);
    for (uint32_t i = 0; i < count_; ++i) words_[i] = 0;
  }
  Words(const Words&) = delete;
  ~Words() { ctx_->iterators += taken_; }

  void add(const abi::Stat* stat) {
    if (words_ == nullptr || stat == nullptr) return;
    const int64_t* counts = abi::hist_words(stat, shape_, form_);
    for (uint32_t i = 0; i < count_; ++i)
      words_[i] =
          static_cast<int64_t>(static_cast<uint64_t>(words_[i]) + static_cast<uint64_t>(counts[i]));
  }

  const abi::Str* text() const {
    if (words_ == nullptr) return agent::empty_string();
    struct Lines {
      Listing listing;
      void put(char c) {
        if (!listing.is_cut()) listing.put(c);
      }
      void end_line() {
        if (!listing.is_cut()) listing.end_item();
      }
    } lines{Listing(ctx_)};
    const abi::HistogramBuckets buckets(words_, shape_, form_);
    abi::HistogramText(buckets, lines).draw();
    return lines.listing.finish();
  }

 private:
  abi::Context* ctx_;
  const abi::StatShape& shape_;
  uint32_t form_, count_, taken_ = 0;
  int64_t* words_ = nullptr;
};

}  // namespace

const abi::Str* dj_hist_text(abi::Context* ctx, const abi::Stat* rows, uint32_t stride,
                             const abi::StatShape* shape, uint32_t form) {
  Words words(ctx, *shape, form);
  const uint32_t count = rows == nullptr ? 0 : stride == 0 ? 1 : agent::arena()->cpus + 1;
  for (uint32_t row = 0; row < count; ++row) words.add(abi::stat_row(rows, stride, row));
  return words.text();
}

const abi::Str* dj_slice_hist_text(abi::Context* ctx, const abi::Map* map, const uint64_t* keys,
                                   uint32_t given, uint32_t form) {
  Words words(ctx, map->shape, form);
  agent::each_of(map, {keys, given}, [&](uint32_t index, const uint64_t*) {
    words.add(abi::map_node_stat(map, abi::map_node(agent::place(), map, index)));
    return true;
  });
  return words.text();
}
