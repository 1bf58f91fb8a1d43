// SPDX-License-Identifier: Apache-2.0
// Arming: a probe in the target whose arming condition djtap follows, and the probe that it runs to
// know what the condition says (compiler/check/arming.h adds them to a Program).
#pragma once
#include "compiler/stages/program.h"

namespace dj {

struct Arming {
  ProbeId probe = 0;
  ProbeId test = 0;    // `probe never`: sets `armed` to the condition's value
  GlobalId armed = 0;  // an Int
};

}  // namespace dj
