// SPDX-License-Identifier: Apache-2.0
// Ring carries events of one CPU to the controller. Any thread (also of a forked child, also in a
// signal handler) reserves by CAS on `head`, fills, and commits by the stamp. Only the controller
// moves `tail`. A full ring drops the event and counts it. The thread of an unfinished record may
// have been killed or unwound: the reader passes such a record, and finds the next finished one by
// its stamp. What the reader gives back has no stamps, so no payload of an older record passes for
// one.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/atomic.h"
#include "runtime/shared/event.h"

namespace dj::abi {

struct Ring {
  uint64_t head;  // position behind the last reserved byte; positions only grow
  uint64_t pad1[15];
  uint64_t tail;  // position of the first unread byte; written by the controller
  uint64_t pad2[15];
  // Header::ring_bytes of data follow
};
static_assert(sizeof(Ring) == 256);

constexpr uint64_t ring_bytes(uint64_t data_bytes) { return sizeof(Ring) + data_bytes; }
inline EventHeader* ring_at(Ring* ring, uint64_t bytes, uint64_t position) {
  return reinterpret_cast<EventHeader*>(reinterpret_cast<char*>(ring + 1) +
                                        (position & (bytes - 1)));
}

inline Ring* ring_of_row(const Header* header, Arena arena, uint32_t row) {
  return reinterpret_cast<Ring*>(header->rings.address(arena) +
                                 uint64_t{row} * header->ring_stride);
}

// Room for one record of `size` bytes (multiple of kEventAlign, at most `bytes`, which are the
// ring's); null: the ring is full. *position is what ring_commit wants. Whatever stands in the
// ring, the room lies in it.
inline EventHeader* ring_reserve(Ring* ring, uint64_t bytes, uint32_t size, uint64_t* position) {
  for (;;) {
    uint64_t head = load(&ring->head);
    if (head % kEventAlign != 0) return nullptr;  // not written by us
    uint64_t room = bytes - (head & (bytes - 1));
    uint64_t skip = room < size ? room : 0;  // a record never wraps
    // Negative: `head` is old, others have filled and the controller has emptied since.
    const auto used = static_cast<int64_t>(head + skip + size - load(&ring->tail));
    if (used > static_cast<int64_t>(bytes)) return nullptr;
    if (!cas(&ring->head, head, head + skip + size)) continue;
    if (skip != 0) {
      EventHeader* pad = ring_at(ring, bytes, head);
      pad->size = static_cast<uint32_t>(skip);
      pad->kind = kEventPad;
      store(&pad->stamp, head + 1);
    }
    *position = head + skip;
    return ring_at(ring, bytes, *position);
  }
}
inline void ring_commit(EventHeader* record, uint64_t position) {
  store(&record->stamp, position + 1);
}

// --- reader, controller only. Believes nothing that the target can write ---
struct RingReader {
  uint64_t bytes = 0;      // of data, as the controller has laid it out
  uint64_t position = 0;   // next record to look at
  uint64_t freed = 0;      // given back to the writers up to here; <= position
  uint64_t abandoned = 0;  // unfinished records passed
  uint32_t size = 0;       // of the record that ring_peek returned, checked
  bool scribbled = false;  // Ring::head was no position that a handler can have left there
};
inline RingReader ring_reader(uint64_t bytes) { return {.bytes = bytes}; }
// The finished record at `reader->position`, or null (none, or not finished yet). give_up: pass
// unfinished ones. The target may write into it at any time: copy reader->size bytes first, and
// check what they say.
inline const EventHeader* ring_peek(Ring* ring, RingReader* reader, bool give_up) {
  uint64_t head = load(&ring->head);
  if (head - reader->freed > reader->bytes) {
    reader->scribbled = true;
    return nullptr;
  }
  bool passed = false;
  while (reader->position + sizeof(EventHeader) <= head) {
    const EventHeader* record = ring_at(ring, reader->bytes, reader->position);
    uint64_t room = reader->bytes - (reader->position & (reader->bytes - 1));
    bool stamped = load(&record->stamp) == reader->position + 1;
    uint32_t size =
        load(&record->size);  // behind the stamp: before it, it may be an older record's
    bool finished = stamped && size >= kEventAlign && size % kEventAlign == 0 && size <= room &&
                    reader->position + size <= head;
    if (finished && load(&record->kind) != kEventPad) {
      reader->size = size;
      return record;
    }
    if (finished) {
      reader->position += size;
      continue;
    }
    if (!give_up) return nullptr;
    if (!passed) reader->abandoned++;
    passed = true;
    reader->position += kEventAlign;
  }
  return nullptr;
}
// Whether something is there that is not finished, or not read yet.
inline bool ring_has_more(const Ring* ring, const RingReader& reader) {
  const uint64_t head = load(&ring->head);
  return head - reader.freed <= reader.bytes && head > reader.position;
}
// Moves behind the record that ring_peek returned; its bytes stay valid until ring_free.
inline void ring_next(RingReader* reader) { reader->position += reader->size; }
// Gives everything before the reader's position back to the writers.
inline void ring_free(Ring* ring, RingReader* reader) {
  uint64_t used = reader->position - reader->freed;
  if (used > reader->bytes) used = reader->bytes;
  for (; used != 0; used -= kEventAlign) {
    ring_at(ring, reader->bytes, reader->position - used)->stamp = 0;
  }
  reader->freed = reader->position;
  store(&ring->tail, reader->position);
}

}  // namespace dj::abi
