// Panics that pass through functions, and who catches them; prints what it has counted itself.
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static ENTERED: AtomicU64 = AtomicU64::new(0);
static RETURNED: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
#[no_mangle]
fn risky(n: u64) -> u64 {
    ENTERED.fetch_add(1, Relaxed);
    let result = inner(n) + 1;
    RETURNED.fetch_add(1, Relaxed);
    result
}

#[inline(never)]
fn inner(n: u64) -> u64 {
    if n % 3 == 0 {
        panic!("every third");
    }
    std::hint::black_box(n)
}

#[inline(never)]
#[no_mangle]
fn guarded(n: u64) -> u64 {
    panic::catch_unwind(|| risky(n)).unwrap_or(0)
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let sum: u64 = (1..=300).map(guarded).sum();
    println!("entered: {}\nreturned: {}\nsum: {}", ENTERED.load(Relaxed), RETURNED.load(Relaxed), sum);
}
// SPDX-License-Identifier: Apache-2.0
