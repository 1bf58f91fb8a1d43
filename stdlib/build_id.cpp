// SPDX-License-Identifier: Apache-2.0
// umodbuildid(): the build-id note of the object at an address, read from its ELF header in memory.
// Source: System V ABI, "ELF Header", "Program Header", "Note Section".
#include "runtime/agent/listing.h"
#include "runtime/agent/stack_walk.h"
#include "runtime/agent/user_memory.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

struct FileHeader {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, segments, sections;
  uint32_t flags;
  uint16_t bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};
struct Segment {
  uint32_t type, flags;
  uint64_t offset, address, physical, file_bytes, memory_bytes, align;
};
struct Note {
  uint32_t name_bytes, text_bytes, type;
  char name[4];
};
static_assert(sizeof(FileHeader) == 64 && sizeof(Segment) == 56 && sizeof(Note) == 16);

constexpr uint32_t kLoad = 1, kNotes = 4;  // PT_LOAD, PT_NOTE
constexpr uint32_t kBuildId = 3;           // NT_GNU_BUILD_ID
constexpr uint32_t kMaxNotes = 64, kMaxSegments = 64, kMaxIdBytes = 64;

// The id among the notes of [at, end), in hexadecimal. False: none is there.
bool put_id(Listing& to, uint64_t at, uint64_t end, uint64_t align) {
  auto padded = [align](uint64_t bytes) { return (bytes + align - 1) / align * align; };
  for (uint32_t i = 0; i < kMaxNotes && at + sizeof(Note) <= end; ++i) {
    Note note;
    if (!agent::can_read(&note, at, sizeof note)) return false;
    const bool gnu = note.name_bytes == 4 && note.name[0] == 'G' && note.name[1] == 'N' &&
                     note.name[2] == 'U' && note.name[3] == '\0';
    if (gnu && note.type == kBuildId && note.text_bytes <= kMaxIdBytes) {
      uint8_t id[kMaxIdBytes];
      if (!agent::can_read(id, at + sizeof note, note.text_bytes)) return false;
      for (uint32_t n = 0; n < note.text_bytes; ++n) {
        to.put("0123456789abcdef"[id[n] >> 4]);
        to.put("0123456789abcdef"[id[n] & 15]);
      }
      return true;
    }
    at += padded(12 + uint64_t{note.name_bytes}) + padded(note.text_bytes);
  }
  return false;
}

// begin: the object's first byte.
bool put_build_id(Listing& to, uint64_t begin) {
  FileHeader header;
  if (!agent::can_read(&header, begin, sizeof header)) return false;
  if (header.ident[0] != 0x7f || header.segment_bytes != sizeof(Segment)) return false;
  uint64_t bias = begin;  // of a segment's address to where it lies
  bool loaded = false;
  for (uint32_t i = 0; i < header.segment_count && i < kMaxSegments; ++i) {
    Segment segment;
    if (!agent::can_read(&segment, begin + header.segments + i * sizeof segment, sizeof segment))
      return false;
    if (segment.type == kLoad && !loaded) {
      bias = begin - (segment.address - segment.offset);
      loaded = true;
    }
    if (segment.type != kNotes) continue;
    // The first PT_LOAD may stand behind: notes lie in its pages, so their offset is as good.
    const uint64_t at = loaded ? bias + segment.address : begin + segment.offset;
    if (put_id(to, at, at + segment.memory_bytes, segment.align == 8 ? 8 : 4)) return true;
  }
  return false;
}

}  // namespace

const abi::Str* dj_umodbuildid(abi::Context* ctx, int64_t address) {
  Listing text(ctx);
  const uint64_t begin = agent::module_begin(static_cast<uint64_t>(address), agent::given_to(ctx));
  if (begin != 0 && put_build_id(text, begin)) {
    text.end_item();
    return text.finish();
  }
  text.put(begin == 0 ? "no object of the program is at " : "no build-id is in the object at ");
  text.put_hex(static_cast<uint64_t>(address));
  text.end_item();
  dj_user_error(ctx, text.finish());
  return agent::empty_string();
}
