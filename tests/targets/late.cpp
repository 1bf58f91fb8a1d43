// Parameters that are used late, behind calls: optimized code describes them only from there on. On
// the stack, in vector registers of 32 bytes, as structs in one, two or no registers; results of
// each kind.
#include <cstdio>

#define N __attribute__((noinline))
#define AVX __attribute__((target("avx")))

long sink, keep;
N long use(long a, const void* p) {
  asm volatile("" : : "r"(p), "r"(a) : "memory");
  return a + sink;
}
struct DL {
  double d;
  long l;
};
struct LD {
  long l;
  double d;
};
struct FFL {
  float a, b;
  long l;
};
struct II {
  int a, b;
};
struct Big {
  long a, b, c;
};
struct CC {
  char c[11];
};
union U {
  double d;
  long l;
};
struct Inner {
  float f;
  int i;
};
struct Nest {
  Inner in;
  double d;
};
struct Bool {
  bool a;
  bool b;
  short s;
};
enum E { Red = 3, Green = 5 };
enum class S : unsigned char { X = 7 };
typedef float V8 __attribute__((vector_size(32)));
typedef double V4 __attribute__((vector_size(32)));
struct HV {
  V8 v;
};
struct Ref {
  Ref(const Ref& o) : n(o.n) {}
  Ref(long n) : n(n) {}
  long n;
};

N long stack_params(long a, long b, long c, long d, long e, long f, long s1, int s2, short s3,
                    char s4, double x1) {
  long r = use(a, &a) + use(b, &b) * c + use(d, &d) * e - use(f, &f);
  r += use(s1, &r) + use(s2, &r);
  r += use(s3, &r) + use(s4, &r) + use((long)x1, &r);
  return r;
}
N long stack_doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                     double s1, float s2, long i, float s3) {
  long r = use((long)a, &r) + (long)(b + c + d + e + f + g + h);
  r += use((long)s1, &r);
  r += use((long)s2, &r) + use(i, &r);
  r += use((long)s3, &r);
  return r;
}
N long mixed(DL dl, LD ld, FFL ffl, II ii, long last) {
  long r = use(dl.l, &r) + use((long)dl.d, &r) + use(ld.l, &r) + use((long)ld.d, &r);
  r += use(ffl.l, &r) + use((long)ffl.a, &r) + use((long)ffl.b, &r) + use(ii.a, &r) + use(ii.b, &r);
  return r + use(last, &r);
}
N long spilled(long a, long b, long c, long d, long e, DL dl, Big big, LD ld, II ii, CC cc,
               long last) {
  long r = use(a, &r) + b + c + d + use(e, &r);
  r += use(dl.l, &r) + use(big.b, &r) + use(big.c, &r) + use(ld.l, &r) + use((long)ld.d, &r) +
       use(ii.b, &r) + use(cc.c[9], &r);
  return r + use(last, &r);
}
N long uni(U u, Nest n, Bool b, E e, S s, CC cc, const Big& ref, U* pu) {
  long r = use(u.l, &r) + use((long)n.d, &r) + use(n.in.i, &r) + use((long)n.in.f, &r) +
           use(b.a, &r) + use(b.s, &r);
  r += use(e, &r) + use((int)s, &r) + use(cc.c[10], &r) + use(ref.b, &r) + use(pu->l, &r);
  return r;
}
N Big returns_big(long a, double d, Ref ref, long s1) {
  long r = use(a, &r) + use((long)d, &r) + use(ref.n, &r) + use(s1, &r);
  return Big{r, a, s1};
}
N DL returns_dl(long a) {
  long r = use(a, &r);
  return DL{a + 0.5, r + 1};
}
N LD returns_ld(long a) {
  long r = use(a, &r);
  return LD{r + 1, a + 0.5};
}
N FFL returns_ffl(long a) {
  long r = use(a, &r);
  return FFL{1.5f, 2.5f, r};
}
N Nest returns_nest(long a) {
  long r = use(a, &r);
  return Nest{{3.5f, (int)r}, 4.5};
}
N CC returns_cc(long a) {
  CC cc{};
  cc.c[10] = (char)use(a, &cc);
  cc.c[0] = 'q';
  return cc;
}
N U returns_u(long a) {
  U u;
  u.l = use(a, &u);
  return u;
}
N II returns_ii(long a) { return II{(int)use(a, &a), 4}; }
N E returns_e(long a) { return use(a, &a) ? Green : Red; }
N bool returns_bool(long a) { return use(a, &a) > 3; }
N float returns_float(long a) { return use(a, &a) + 0.25f; }
N long double returns_ldbl(long a) { return use(a, &a) + 0.125L; }
AVX N long vectors(V8 v, long a, V4 w, double d, long b) {
  float f[8];
  double g[4];
  __builtin_memcpy(f, &v, 32);
  __builtin_memcpy(g, &w, 32);
  long r = use(a, f) + use((long)d, g) + use(b, &r);
  return r + (long)f[7] + (long)g[3];
}
AVX N long hvec(HV v, long a, double d, V8 s1, V8 s2, V8 s3, V8 s4, V8 s5, V8 s6, V8 s7, V8 s8,
                double sd, long b) {
  float f[8];
  __builtin_memcpy(f, &v, 32);
  long r = use(a, f) + use((long)d, f) + use(b, &r) + use((long)sd, &r);
  return r + (long)f[7] + (long)s8[3];
}
struct Base {
  long base = 41;
  virtual N long method(long a, DL dl, long b, long c, long d, long e, long s1) {
    long r = use(a, &r) + use(dl.l, &r) + use(b, &r) + c + d + e;
    return r + use(s1, &r) + base;
  }
};
struct Der : Base {
  long der = 42;
  N Big sret(long a, long b, long c, long d, long s1) {
    long r = use(a, &r) + b + c + use(d, &r);
    r += use(s1, &r);
    return Big{r, der, base};
  }
};
static N long stat(long unused, long a, long b, Big* p) {
  (void)unused;
  long r = use(a, &r) + use(p->b, &r);
  return r + use(b, &r);
}
AVX N void go_vectors() {
  V8 v = {1, 2, 3, 4, 5, 6, 7, 8};
  V4 w = {1.5, 2.5, 3.5, 4.5};
  keep = vectors(v, 31, w, 2.25, 32);
  HV hv{v};
  keep = hvec(hv, 33, 2.75, v, v, v, v, v, v, v, v, 3.75, 34);
}
int main() {
  keep = stack_params(1, 2, 3, 4, 5, 6, 77, -78, -79, 'P', 6.5);
  keep = stack_doubles(1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5f, 111, 12.5f);
  keep = mixed({1.5, 21}, {22, 2.5}, {3.5f, 4.5f, 23}, {24, 25}, 26);
  CC cc = {"abcdefghij"};
  keep = spilled(1, 2, 3, 4, 5, {1.5, 21}, {91, 92, 93}, {22, 2.5}, {24, 25}, cc, 26);
  U u;
  u.d = 8.5;
  Big big{71, 72, 73};
  U v;
  v.l = 44;
  keep = uni(u, {{5.5f, 51}, 6.5}, {true, false, -9}, Green, S::X, cc, big, &v);
  big = returns_big(61, 62.5, Ref(63), 64);
  std::printf("big <%ld %ld %ld>\n", big.a, big.b, big.c);
  DL dl = returns_dl(7);
  LD ld = returns_ld(8);
  FFL ffl = returns_ffl(9);
  Nest ns = returns_nest(10);
  CC c2 = returns_cc(11);
  u = returns_u(12);
  II ii = returns_ii(13);
  E e = returns_e(14);
  bool b = returns_bool(15);
  float fl = returns_float(16);
  long double l = returns_ldbl(17);
  std::printf("dl <%g %ld>\nld <%ld %g>\nffl <%g %g %ld>\nnest <%g %d %g>\ncc <%d>\nu <%ld>\n",
              dl.d, dl.l, ld.l, ld.d, ffl.a, ffl.b, ffl.l, ns.in.f, ns.in.i, ns.d, c2.c[10], u.l);
  std::printf("ii <%d %d>\ne <%d>\nbool <%d>\nfloat <%g>\nldbl <%Lg>\n", ii.a, ii.b, e, b, fl, l);
  if (__builtin_cpu_supports("avx")) {
    go_vectors();
  }
  Der der;
  Base* base = &der;
  keep = base->method(81, {1.5, 82}, 83, 84, 85, 86, 87);
  big = der.sret(51, 52, 53, 54, 55);
  keep = big.a;
}
// SPDX-License-Identifier: Apache-2.0
