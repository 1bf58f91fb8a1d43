// Uses ctor_lib; calls through the PLT; has a constructor of its own.
#include "facts.h"

long lib_work(long n);
long lib_total(void);

__attribute__((constructor)) static void early(void) {
  for (long i = 0; i < 3; i++) lib_work(i);
}

int main(void) {
  for (long i = 0; i < 100; i++) lib_work(i);
  fact("in main", lib_total());
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
