// SPDX-License-Identifier: Apache-2.0
// event.h lays out the records in the rings, by which handlers report to the controller. Never
// reorder: generated code, agent and reader share it.
#pragma once
#include "runtime/shared/abi.h"

namespace dj::abi {

enum EventKind : uint16_t {
  kEventPad,
  kEventPrint,
  kEventError,
  kEventHist,
  kEventWarn,        // warn(): a line for the people at djtap's terminal
  kEventSystem,      // system(): a command for djtap's shell
  kEventSwitchFile,  // switch_file(): what follows goes into another file
  kEventChildBegins,
  kEventChildEnds
};

// EventHeader: first bytes of each record. Records are multiples of kEventAlign bytes and never
// wrap around the ring's end.
struct EventHeader {
  uint64_t
      stamp;  // written last: position of the record in the ring + 1. Anything else: not finished
  uint64_t tsc;
  uint32_t size;    // whole record, multiple of kEventAlign
  uint16_t kind;    // EventKind
  uint16_t count;   // Print: arguments
  uint32_t format;  // Print: FormatId. Hist: 1 linear, 0 logarithmic. Warn, System: bytes of text.
  uint32_t site;
};
constexpr uint32_t kEventAlign = 32;
static_assert(sizeof(EventHeader) == kEventAlign && offsetof(EventHeader, size) == 16);

// Who has sent a Print or Hist: the record's last bytes. As pid() and tid() say it.
struct Sender {
  int32_t pid, tid;
};

// Print: header, count words, string bytes, Sender. A string argument's word is packed: offset of
// its bytes from the record's start in the low half, length in the high half.
constexpr uint64_t pack_string(uint32_t offset, uint32_t length) {
  return static_cast<uint64_t>(length) << 32 | offset;
}

// How many of the calls that led to an error are told, innermost first.
constexpr uint32_t kMaxShownCalls = 16;  // a power of two

// Error: follows the header.
struct ErrorPayload {
  uint32_t error;  // ErrorKind
  uint32_t span;   // Image::spans
  int64_t a;
  int32_t pid, tid;
  uint64_t text;                   // kErrUser: packed string, offset from the record's start
  uint32_t call_count, pad;        // how many functions the error is inside of
  uint32_t calls[kMaxShownCalls];  // Image::spans of their calls
};

// Warn, System: header, then `format` bytes of text.

// ChildBegins, ChildEnds: follows the header.
struct ChildPayload {
  uint64_t target;  // Header::target_pid of the process that has the constants which it has
  uint64_t pid;     // as pid() says it
};

// Hist: follows the header; then `words` bucket words, and the Sender.
struct HistPayload {
  StatShape shape;
  uint64_t words;
};

}  // namespace dj::abi
