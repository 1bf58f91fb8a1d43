// Arguments behind arguments of unusual types: what each takes of registers and stack decides where
// the next ones are. Every function gets, behind the unusual one, an int, a double, and seven
// longs, the last ones on the stack.
#include <complex.h>

#include <complex>
#include <cstdio>

struct Empty {};
struct Bits {  // of 16 bytes, the second half holds a bit-field alone
  unsigned a : 3;
  int s : 5;
  unsigned long l : 40;
  unsigned c : 20;
};
struct Padded {  // the second half is padding
  alignas(16) double d;
};
struct __attribute__((packed)) Packed {
  char c;
  long l;
};
struct Extended {
  long double x;
};
struct Pair {
  float a, b;
  int n;
};
typedef float FourFloats __attribute__((vector_size(16)));
typedef int TwoInts __attribute__((vector_size(8)));
struct Base {
  int b = 11;
  virtual ~Base() {}
  int method(int n) { return n + b; }
};
struct Left : virtual Base {
  int left = 12;
};
struct Right : virtual Base {
  int right = 13;
};
struct Both : Left, Right {
  int both = 14;
};
using Method = int (Base::*)(int);

// Variables of one name in several places.
namespace tally {
long count = 61;
namespace {
volatile long hidden = 62;
}
struct Made {
  static long count;
};
long Made::count = 63;
}  // namespace tally
long count = 64;

static long total = 0;

#define TAKES(name, Type)                                                                       \
  __attribute__((noinline)) void name(long first, Type odd, int number, double real, long s1,   \
                                      long s2, long s3, long s4, long s5, long s6, char last) { \
    total += first + number + (long)real + s1 + s2 + s3 + s4 + s5 + s6 + last;                  \
    asm volatile("" : : "r"(&odd) : "memory");                                                  \
  }                                                                                             \
  static void call_##name(Type value) { name(1, value, -2, 2.5, 11, 12, 13, 14, 15, 16, 'z'); }

TAKES(takes_empty, Empty)
TAKES(takes_bits, Bits)
TAKES(takes_padded, Padded)
TAKES(takes_packed, Packed)
TAKES(takes_extended, Extended)
TAKES(takes_pair, Pair)
TAKES(takes_vector, FourFloats)
TAKES(takes_small_vector, TwoInts)
TAKES(takes_int128, __int128)
TAKES(takes_long_double, long double)
TAKES(takes_float128, __float128)
TAKES(takes_complex, std::complex<double>)
TAKES(takes_complex_float, std::complex<float>)
TAKES(takes_complex_long, std::complex<long double>)
TAKES(takes_c_complex, double _Complex)
TAKES(takes_method, Method)
TAKES(takes_null, decltype(nullptr))
TAKES(takes_virtual, Left)

__attribute__((noinline)) void bases(Both* both, Left* left, Right& right) {
  total += both->b + left->left + right.right;
  tally::hidden = tally::hidden + tally::count + tally::Made::count + count - 188;
  asm volatile("" : : "r"(both), "r"(left), "r"(&right) : "memory");
}

int main() {
  call_takes_empty({});
  call_takes_bits({5, -3, 0x123456789aul, 77});
  call_takes_padded({1.5});
  call_takes_packed({1, 2});
  call_takes_extended({1.5L});
  call_takes_pair({1.5f, 2.5f, 3});
  call_takes_vector(FourFloats{1, 2, 3, 4});
  call_takes_small_vector(TwoInts{1, 2});
  call_takes_int128(((__int128)5 << 64) + 6);
  call_takes_long_double(1.5L);
  call_takes_float128(1.5);
  call_takes_complex({1.5, 2.5});
  call_takes_complex_float({1.5f, 2.5f});
  call_takes_complex_long({1.5L, 2.5L});
  call_takes_c_complex(std::complex<double>(1.5, 2.5).real());
  call_takes_method(&Base::method);
  call_takes_null(nullptr);
  call_takes_virtual(Left());
  Both both;
  Left left;
  bases(&both, &left, both);
  std::printf("total: %ld\nb: %d\nleft: %d\nright: %d\nboth: %d\n", total, both.b, both.left,
              both.right, both.both);
}
// SPDX-License-Identifier: Apache-2.0
