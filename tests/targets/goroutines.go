// Goroutines that call a leaf with nothing but the linker's room below it, on stacks of 2 to 8 kB
// beside each other. Prints the sum of what the leaf gives, and the number of its calls.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
//go:nosplit
func leaf(a, b int) int {
	var pad [40]int
	for i := range pad {
		pad[i] = a + i
	}
	return pad[b%40] + b
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		return leaf(9, 3)
	}
	return deep(n-1) + leaf(n, n)
}

func main() {
	const routines, depth = 100, 40
	var group sync.WaitGroup
	var lock sync.Mutex
	sum, calls := 0, 0
	for g := 0; g < routines; g++ {
		group.Add(1)
		go func() {
			defer group.Done()
			own := 0
			for d := 1; d < depth; d++ {
				own += deep(d)
				runtime.Gosched()
			}
			lock.Lock()
			sum += own
			for d := 1; d < depth; d++ {
				calls += d + 1
			}
			lock.Unlock()
		}()
	}
	group.Wait()
	runtime.GC()
	fmt.Printf("sum: %d\ncalls: %d\n", sum, calls)
}
// SPDX-License-Identifier: Apache-2.0
