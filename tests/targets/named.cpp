// C++ names of every kind: overloads, qualifiers, operators, conversions, templates, lambdas, namespaces without a name and inline ones.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline, used))

static long calls[16];

namespace kinds {

struct [[gnu::abi_tag("v1")]] Tagged {};
KEPT Tagged tagged(int) { return {}; }

struct A {
  int v = 1;
  KEPT A() {}
  KEPT explicit A(int x) : v(x) {}
  KEPT ~A() { v = 0; }
  KEPT int get() { return calls[0]++, v; }
  KEPT int get() const { return calls[1]++, v; }
  KEPT int get(int k) & { return k; }
  KEPT int get(int k) && { return calls[2]++, k; }
  KEPT int get(long k) const volatile { return int(k); }
  KEPT operator int() const { return calls[3]++, v; }
  KEPT operator std::vector<int>() const { return {}; }
  KEPT operator const char*() const { return calls[4]++, ""; }
  template <class T>
  KEPT explicit operator T*() {
    return nullptr;
  }
  KEPT void* operator new[](size_t n) { return std::malloc(n); }
  KEPT void operator delete[](void* p) { std::free(p); }
  KEPT A& operator*() { return *this; }
  KEPT int operator*(int k) { return calls[5]++, k; }
  KEPT A* operator->() { return this; }
  KEPT int operator,(int k) { return k; }
  KEPT int operator()(int k) { return k; }
  KEPT int operator[](int k) { return calls[6]++, k; }
  KEPT bool operator!() { return v == 0; }
  KEPT bool operator<(const A& o) const { return v < o.v; }
  KEPT A& operator<<(int k) {
    v += k;
    return *this;
  }
  KEPT A& operator<<(const char*) { return *this; }
  KEPT int pointers(int A::*, int (A::*)(int), void (*)(int), int (&)[3], char**, char* const*, ...) { return 0; }
  KEPT static int make(const std::string& s) { return calls[7]++, int(s.size()); }
  KEPT static int make(const std::vector<int>& s) { return int(s.size()); }
};

template <class T, int N>
struct Ring {
  template <class U>
  KEPT U add(U u) {
    auto l = [=](auto x) KEPT { return x + u; };
    return U(l(1));
  }
  KEPT T first(T* a) { return a[0]; }
};
template <class T>
KEPT int size_of(T) {
  return sizeof(T);
}
inline namespace v2 {
KEPT int fresh(int x) { return calls[8]++, x; }
namespace deep {
KEPT int inner(int x) { return x; }
}
inline namespace v3 {
KEPT int fresher(int x) { return calls[9]++, x; }
}
}  // namespace v2
namespace old {
KEPT int fresh(int x) { return x; }
}
namespace {
struct Hidden {
  KEPT int run(int x) { return x; }
};
KEPT int hidden(char*) { return ++calls[10] != 0; }
KEPT int hidden(char**) { return 1; }
}  // namespace

}  // namespace kinds

KEPT int operator""_km(unsigned long long v) { return int(v); }
struct Other {
  KEPT static int total(int x) { return x; }
};
KEPT int total(int x) { return calls[11]++, x; }
KEPT int total(double x) { return int(x); }
KEPT int total(unsigned long x, const char* const* = nullptr) { return calls[12]++, int(x); }
extern "C" KEPT int plain(int x) { return x; }
KEPT int übung(int x) { return x; }
KEPT int 变量(int x) { return calls[13]++, x; }
static KEPT int once(int x) { return x; }

int main() {
  using namespace kinds;
  A a;
  const A c;
  (void)tagged(1);
  int s = a.get() + c.get() + c.get() + a.get(1) + A().get(1) + A(2).get(2) + A(3).get(3) + c.get(4L);
  struct Local {
    KEPT int run(int k) {
      auto n = [k](int z) KEPT {
        auto m = [z](int y) KEPT { return y + z; };
        return m(k);
      };
      return n(1);
    }
  } local;
  auto first = [&](int x) KEPT { return calls[14]++, x + s; };
  auto second = [&](int x) KEPT { return calls[15]++, x - s; };
  auto third = [&](long x) KEPT { return int(x) - s; };
  s += first(1) + first(2) + second(3) + third(4) + local.run(2);
  s += Ring<int, 3>().add(2) + Ring<long, 4>().add('c');
  int numbers[3] = {};
  s += Ring<int, 3>().first(numbers) + size_of(1) + size_of('c') + size_of(std::string());
  s += Hidden().run(1) + hidden(static_cast<char*>(nullptr)) + hidden(static_cast<char**>(nullptr));
  std::vector<int> list = c;
  const char* text = c;
  s += *text + int(list.size()) + (static_cast<long*>(a) != nullptr) + c.operator int();
  delete[] new A[2];
  s += (*a).v + a * 2 + a->v + (a, 3) + a(4) + a[5] + a[6] + !a + (a < c) + (a << 1 << "x").v;
  s += a.pointers(nullptr, nullptr, nullptr, numbers, nullptr, nullptr) + A::make("x") + A::make(list);
  s += 3_km + total(1) + total(2) + total(1.5) + total(3UL) + Other::total(2) + plain(1) + übung(1) + 变量(2) + once(3);
  s += deep::inner(3) + fresh(1) + fresher(1) + fresher(2) + old::fresh(1);
  for (int i = 0; i < 16; i++) std::printf("calls %d: %ld\n", i, calls[i]);
  return s == 0;
}
// SPDX-License-Identifier: Apache-2.0
