// SPDX-License-Identifier: Apache-2.0
// What the sources of the program library_calls share: each call is noted before it is made.
#pragma once

void made(const char* name);  // by the probe's name
long keep(long value);        // so that the compiler keeps the call

#define DO(name, call) (made(name), keep((long)(call)))

void system_calls();  // those that the kernel refuses, or that change nothing
