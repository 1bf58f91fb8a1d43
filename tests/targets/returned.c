// Results of many types: each call prints what it got, written as a script's text of the value.
#include <complex.h>
#include <stdio.h>

#define VECTOR(element, bytes) element __attribute__((vector_size(bytes)))
typedef VECTOR(float, 8) float2;
typedef VECTOR(float, 16) float4;
typedef VECTOR(double, 32) double4;
typedef VECTOR(long, 64) long8;
typedef VECTOR(int, 4) int1;
typedef VECTOR(short, 4) short2;
typedef struct { double d; long l; } d_l;
typedef struct { long l; double d; } l_d;
typedef struct { double a, b; } d_d;
typedef struct { float a, b; } f_f;
typedef struct { float a, b, c; } f_f_f;
typedef struct { float a, b; int c; } f_f_i;
typedef struct { int a; float b; double c; } i_f_d;
typedef struct { double a, b, c, d; } d4;
typedef struct { long double x; } x1;
typedef struct { long double x; int y; } x_i;
typedef struct { float _Complex c; } fc1;
typedef struct { double _Complex c; } dc1;
typedef struct { short a; char b; int c; long d; } s_c_i_l;
typedef struct { __int128 v; } big1;
typedef union { double d; long l; } d_or_l;
typedef struct { _Bool b; float f; } b_f;
typedef struct { unsigned a : 3; int b : 20; long c : 40; } bits;
typedef struct { float4 v; } float4_1;
typedef struct { double4 v; } double4_1;
typedef struct { float2 a; long b; } float2_l;
typedef struct { int1 v; short s; } int1_s;

#define ROWS                                                                                        \
  ROW(d_l, "{.d=%g, .l=%ld}", (r.d, r.l), {n + .5, n + 1})                                           \
  ROW(l_d, "{.l=%ld, .d=%g}", (r.l, r.d), {n + 2, n + .25})                                          \
  ROW(d_d, "{.a=%g, .b=%g}", (r.a, r.b), {n + .5, n + 1.5})                                          \
  ROW(f_f, "{.a=%g, .b=%g}", (r.a, r.b), {n + .5f, n + 1.5f})                                        \
  ROW(f_f_f, "{.a=%g, .b=%g, .c=%g}", (r.a, r.b, r.c), {n + .5f, n + 1.5f, n + 2.5f})                \
  ROW(f_f_i, "{.a=%g, .b=%g, .c=%d}", (r.a, r.b, r.c), {n + .5f, n + 1.5f, n + 7})                   \
  ROW(i_f_d, "{.a=%d, .b=%g, .c=%g}", (r.a, r.b, r.c), {n + 3, n + .5f, n + .125})                   \
  ROW(d4, "{.a=%g, .b=%g, .c=%g, .d=%g}", (r.a, r.b, r.c, r.d), {n + .5, n + 1.5, n + 2.5, n + 3.5}) \
  ROW(x1, "{.x=%Lg}", (r.x), {n + .5L})                                                              \
  ROW(x_i, "{.x=%Lg, .y=%d}", (r.x, r.y), {n + .5L, n})                                              \
  ROW(fc1, "{.c=%g + %gi}", (creal(r.c), cimag(r.c)), {n + 1.5f + 2.5f * I})                         \
  ROW(dc1, "{.c=%g + %gi}", (creal(r.c), cimag(r.c)), {n + 1.5 - 2.5 * I})                           \
  ROW(s_c_i_l, "{.a=%d, .b='%c', .c=%d, .d=%ld}", (r.a, r.b, r.c, r.d), {n, 'b', n + 2, n + 3})      \
  ROW(big1, "{.v=%ld000000000000}", ((long)(r.v / 1000000000000)), {(__int128)n * 123456789 * 1000000000000})\
  ROW(d_or_l, "{.d=%g, .l=%ld}", (r.d, r.l), {n + .5})                                               \
  ROW(b_f, "{.b=%d, .f=%g}", (r.b, r.f), {1, n + .5f})                                               \
  ROW(bits, "{.a=%d, .b=%d, .c=%ld}", (r.a, r.b, (long)r.c), {n & 3, -n, n + 5})                     \
  ROW(float4_1, "{.v=[%g, %g, %g, %g]}", (r.v[0], r.v[1], r.v[2], r.v[3]), {{n, n + 1, n + 2, n + 3}})\
  ROW(double4_1, "{.v=[%g, %g, %g, %g]}", (r.v[0], r.v[1], r.v[2], r.v[3]), {{n, n + 1, n + 2, n + 3}})\
  ROW(float2_l, "{.a=[%g, %g], .b=%ld}", (r.a[0], r.a[1], r.b), {{n, n + 1}, n + 9})                 \
  ROW(int1_s, "{.v=[%d], .s=%d}", (r.v[0], r.s), {{n * 1000}, -n})                                   \
  ROW(float2, "[%g, %g]", (r[0], r[1]), {n, n + 1})                                                  \
  ROW(float4, "[%g, %g, %g, %g]", (r[0], r[1], r[2], r[3]), {n, n + 1, n + 2, n + 3})                \
  ROW(double4, "[%g, %g, %g, %g]", (r[0], r[1], r[2], r[3]), {n, n + 1, n + 2, n + 3})               \
  ROW(long8, "[%ld, %ld, %ld, %ld, %ld, %ld, %ld, %ld]", (r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]),  \
      {n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7})                                          \
  ROW(int1, "[%d]", (r[0]), {n * 77})                                                                \
  ROW(short2, "[%d, %d]", (r[0], r[1]), {n, -n})                                                     \
  ROW(float, "%g", (r), n + .5f)                                                                     \
  ROW(double, "%g", (r), n - .25)                                                                    \
  NAMED(float _Complex, float_complex, "%g + %gi", (creal(r), cimag(r)), n + .5f + 1.5f * I)         \
  NAMED(double _Complex, double_complex, "%g + %gi", (creal(r), cimag(r)), n + .5 - 1.5 * I)         \
  NAMED(long double _Complex, long_complex, "%Lg + %Lgi", (creall(r), cimagl(r)), n + .5L + 1.5L * I) \
  NAMED(long double, long_double, "%Lg", (r), n + .125L)                                             \
  NAMED(__int128, int128, "%ld000000000000", ((long)(r / 1000000000000)), (__int128)n * 123456789 * 1000000000000) \
  HALF

#ifdef __FLT16_MAX__
#define HALF NAMED(_Float16, half, "%g", ((double)r), n * -.125)
#else
#define HALF
#endif

#define ROW(type, ...) NAMED(type, type, __VA_ARGS__)
#define NAMED(type, name, text, arguments, ...)                                           \
  __attribute__((noinline)) type returns_##name(int n) {                                  \
    type r = __VA_ARGS__;                                                                 \
    __asm__ volatile("" : : "r"(&r) : "memory");                                          \
    return r;                                                                             \
  }
ROWS
#undef NAMED

#define OPEN(...) __VA_ARGS__
#define NAMED(type, name, text, arguments, ...)            \
  {                                                        \
    type r = returns_##name(5);                            \
    printf("truth " #name " " text "\n", OPEN arguments); \
  }
int main(void) {
  ROWS
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
