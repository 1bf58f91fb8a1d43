// SPDX-License-Identifier: Apache-2.0
// hot: Events: printf and histograms as binary records; text is made of them in djtap.
#include "runtime/agent/event_record.h"
#include "runtime/shared/stat.h"

using namespace dj;

void dj_event_print(uint32_t site, uint32_t format, const uint64_t* args, uint32_t count,
                    uint32_t string_mask) {
  uint64_t bytes = 8ull * count;
  for (uint32_t i = 0; i < count; ++i) {
    if (string_mask >> i & 1) bytes += abi::text_of(reinterpret_cast<const abi::Str*>(args[i])).len;
  }
  agent::Record record;
  if (!record.open_sent(bytes, abi::kEventPrint, site)) return;
  record.head().format = format;
  record.head().count = static_cast<uint16_t>(count);
  auto* words = reinterpret_cast<uint64_t*>(record.payload());
  uint32_t at = static_cast<uint32_t>(sizeof(abi::EventHeader)) + 8 * count;
  uint32_t end = record.size();
  for (uint32_t i = 0; i < count; ++i) {
    words[i] = args[i];
    if ((string_mask >> i & 1) == 0) continue;
    // By now it may say something else: what fits is taken.
    const abi::Text text = abi::text_of(reinterpret_cast<const abi::Str*>(args[i]));
    uint32_t length = text.len < end - at ? text.len : end - at;
    char* to = reinterpret_cast<char*>(&record.head()) + at;
    __builtin_memcpy(to, text.data, length);
    words[i] = abi::pack_string(at, length);
    at += length;
  }
  record.commit();
}

void dj_event_hist(uint32_t site, const abi::Stat* rows, uint32_t stride,
                   const abi::StatShape* shape, uint32_t form) {
  const uint32_t words = abi::hist_count(*shape, form);
  agent::Record record;
  if (!record.open_sent(sizeof(abi::HistPayload) + 8ull * words, abi::kEventHist, site)) return;
  record.head().format = form;
  auto* payload = reinterpret_cast<abi::HistPayload*>(record.payload());
  payload->shape = *shape;
  payload->words = words;
  auto* out = reinterpret_cast<uint64_t*>(payload + 1);
  uint32_t count = stride == 0 ? 1 : agent::arena()->cpus + 1;
  for (uint32_t i = 0; i < words; ++i) {
    uint64_t sum = 0;
    for (uint32_t row = 0; row < count; ++row) {
      const abi::Stat* stat = abi::stat_row(rows, stride, row);
      sum += static_cast<uint64_t>(abi::hist_words(stat, *shape, form)[i]);
    }
    out[i] = sum;
  }
  record.commit();
}
