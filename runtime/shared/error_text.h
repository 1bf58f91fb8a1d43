// SPDX-License-Identifier: Apache-2.0
// error_text.h gives each script error its code and its words, for catch (message) and for what
// djtap prints.
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
      return "scratch memory is full: a loop or a match needs %d bytes more (in a function that "
             "calls itself?)";
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

inline const char* error_code(uint32_t kind) {
  switch (kind) {
    case kErrBadAddress:
      return "DJ5001";
    case kErrUser:
      return "DJ5002";
    case kErrDivideByZero:
      return "DJ5003";
    case kErrMaxAction:
      return "DJ5004";
    case kErrNesting:
      return "DJ5005";
    case kErrEmptyStat:
      return "DJ5006";
    case kErrScratch:
      return "DJ5007";
    case kErrNoMatch:
      return "DJ5008";
    case kErrNoGroup:
      return "DJ5009";
    case kErrBucket:
      return "DJ5010";
    default:
      return "DJ5011";
  }
}

}  // namespace dj::abi
