// A Go program whose functions have results of every kind; prints each as a probe should show it.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

type pair struct {
	a int32
	b int64
}
type mixed struct {
	f float64
	s string
	b byte
	_ byte
	h [1]int16
}
type nested struct {
	p    pair
	none struct{}
	g    float32
	c    uint16
}
type wide struct {
	two [2]int8
	n   int
}

//go:noinline
func one(n int) int { return n * 3 }

//go:noinline
func small(n int) int8 { return int8(-n) }

//go:noinline
func yes(n int) bool { return n%2 == 1 }

//go:noinline
func two(n int) (int, error) {
	if n%2 == 0 {
		return n, errors.New("even")
	}
	return n + 1, nil
}

//go:noinline
func text(n int) string { return strings.Repeat("ab", n) }

//go:noinline
func slice(n int) []int { return []int{n, n + 1} }

//go:noinline
func named(n int) (sum int, name string, ok bool, part float32) {
	defer func() { sum++ }()
	sum, name, ok, part = n+7, "nm", n%2 == 1, float32(n)/4
	return
}

//go:noinline
func inPair(n int) pair { return pair{int32(-n), int64(n) * 5} }

//go:noinline
func inMixed(n int) mixed { return mixed{f: float64(n) / 2, s: "mx", b: byte(n), h: [1]int16{int16(-n)}} }

//go:noinline
func inNested(n int) (nested, int) { return nested{pair{int32(n), -1}, struct{}{}, 0.5, uint16(n)}, 77 }

//go:noinline
func fractions(n int) (float64, float32, int) { return float64(n) * 1.5, float32(n), n }

//go:noinline
func complexes(n int) complex128 { return complex(float64(n), -2) }

//go:noinline
func array(n int) [3]int { return [3]int{n, n, n + 2} }

//go:noinline
func onStack(s string, w wide, n int) (int, wide, int) { return n, wide{[2]int8{1, int8(-n)}, n * 9}, 5 }

//go:noinline
func many(n int) (a, b, c, d, e, f, g, h, i, j, k int) {
	return n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10
}

//go:noinline
func manyFractions(n int) (a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q float64) {
	x := float64(n)
	return x, x, x, x, x, x, x, x, x, x, x, x, x, x, x + 14, x + 15
}

//go:noinline
func last(n int) (a, b, c, d, e, f, g, h int, s string, z int16) { return 1, 2, 3, 4, 5, 6, 7, 8, "in memory", int16(-n) }

//go:noinline
func pointer(n int) *pair { return &pair{int32(n), 3} }

//go:noinline
func (p *pair) method(k int16) (int64, string) { return p.b + int64(k), "method" }

//go:noinline
func generic[T any](x T, n int) (T, int) { return x, n + 1 }

// Is inlined where it is called by its name.
func copied(n int) (double int, half float64) { return 2 * n, float64(n) / 2 }

var called = copied

//go:noinline
func blank(_ [2]int, n int) (_ int, both [2]int8, rest string) { return n, [2]int8{1, int8(n)}, "blank" }

//go:noinline
func nothing(n int) { sink += n }

var sink int

func main() {
	for n := 1; n < 4; n++ {
		nothing(n)
		_, failed := two(n)
		fmt.Printf("one %d\nsmall %d\n", one(n), small(n))
		fmt.Printf("yes %d\n", map[bool]int{true: 1}[yes(n)])
		value, _ := two(n)
		fmt.Printf("two %d %d\n", value, map[bool]int{true: 1}[failed != nil])
		fmt.Printf("text %q\n", text(n))
		numbers := slice(n)
		fmt.Printf("slice {size=2, [%d, %d]} %d\n", numbers[0], numbers[1], len(numbers))
		sum, name, ok, part := named(n)
		fmt.Printf("named %d %q %d %g\n", sum, name, map[bool]int{true: 1}[ok], part)
		p, m := inPair(n), inMixed(n)
		fmt.Printf("pair {.a=%d, .b=%d} %d\n", p.a, p.b, p.a)
		fmt.Printf("mixed %g %q %d %d\n", m.f, m.s, m.b, m.h[0])
		s, k := inNested(n)
		fmt.Printf("nested %d %d %g %d %d\n", s.p.a, s.p.b, s.g, s.c, k)
		x, y, z := fractions(n)
		fmt.Printf("fractions %g %g %d\n", x, y, z)
		c, a := complexes(n), array(n)
		fmt.Printf("array %d %d %d\n", a[0], a[1], a[2])
		sink += int(real(c))
		i, w, j := onStack("given", wide{}, n)
		fmt.Printf("stack %d %d %d %d %d\n", i, w.two[0], w.two[1], w.n, j)
		ma, _, mc, _, _, _, _, _, mi, mj, mk := many(n)
		fmt.Printf("many %d %d %d %d %d\n", ma, mc, mi, mj, mk)
		fa, _, _, _, _, _, _, _, _, _, _, _, _, _, fp, fq := manyFractions(n)
		fmt.Printf("many fractions %g %g %g\n", fa, fp, fq)
		_, _, _, _, _, _, _, lh, ls, lz := last(n)
		fmt.Printf("last %d %q %d\n", lh, ls, lz)
		_, none := copied(n)
		double, half := called(n)
		fmt.Printf("copied %d %g\n", double, half+none-none)
		first, both, rest := blank([2]int{}, n)
		fmt.Printf("blank %d %q\n", first, rest)
		sink += int(both[0])
		fmt.Printf("pointer %d\n", pointer(n).a)
		sums, word := p.method(int16(n))
		fmt.Printf("method %d %q\n", sums, word)
		g, h := generic(n*2, n)
		fmt.Printf("generic %d %d\n", g, h)
	}
	fmt.Fprintln(os.Stderr, sink)
}
// SPDX-License-Identifier: Apache-2.0
