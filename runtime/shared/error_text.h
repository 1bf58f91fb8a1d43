// The words of each script error: what catch (message) gives and what djtap prints.
#pragma once
#include "runtime/shared/abi.h"

namespace dj::abi {

constexpr uint32_t kMaxErrorText = 160;

// A format of format.h with ErrorPayload::a as its argument. kErrUser brings its own text.
inline const char* error_format(uint32_t kind) {
  switch (kind) {
    case kErrBadAddress:
      return "read fault at address 0x%016x";
    case kErrDivideByZero:
      return "division by 0";
    case kErrMaxAction:
      return "MAXACTION exceeded: more than %d loop rounds and calls in one hit";
    case kErrNesting:
      return "MAXNESTING exceeded: more than %d calls deep";
    case kErrEmptyStat:
      return "the aggregate is empty";
    case kErrScratch:
      return "%d bytes of scratch memory are not there; give the foreach a limit";
    case kErrNoMatch:
      return "the last =~ did not match";
    case kErrNoGroup:
      return "the last pattern has no group %d";
    case kErrBucket:
      return "the histogram has no bucket %d";
    case kErrEndless:
      return "debug info's expression for the value goes round more than %d times";
    default:
      return "script error";
  }
}

}  // namespace dj::abi
