// A Go program: its strings and slices, arguments in registers and on the stack; prints what they came to.
package main

import "fmt"

type point struct {
	x, y int16
	name string
	tags []string
}

var calls, total int

//go:noinline
func work(p *point, k int, s string, numbers []int64, points []point, empty []int, f float64) int {
	calls++
	return int(p.x) + k + len(s) + len(numbers) + len(points) + len(empty) + int(f)
}

//go:noinline
func (p *point) move(dx int8, by uint16) int {
	p.x += int16(dx)
	return int(p.x) + int(by)
}

func main() {
	p := &point{3, -4, "origin \"here\"", []string{"a", "bc"}}
	for i := 0; i < 3; i++ {
		total += work(p, i, "hello", []int64{7, -8}, []point{*p, {1, 2, "", nil}}, nil, 2.5)
		total += p.move(-3, 500)
	}
	fmt.Printf("calls: %d\ntotal: %d\nx: %d\n", calls, total, p.x)
}
// SPDX-License-Identifier: Apache-2.0
