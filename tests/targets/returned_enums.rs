// Functions that return enums and structs of Rust in memory and in registers; each gets 7 and a reference to 42.
#[inline(never)]
fn option(a: u32, b: &u32) -> Option<[u64; 3]> { if a > 5 { Some([*b as u64; 3]) } else { None } }
#[inline(never)]
fn result(a: u32, b: &u32) -> Result<u64, String> { if a > 5 { Ok(*b as u64) } else { Err("x".into()) } }
#[inline(never)]
fn text(a: u32, b: &u32) -> Option<String> { if a > 5 { Some(b.to_string()) } else { None } }
#[inline(never)]
fn small(a: u32, b: &u32) -> Option<u32> { if a > 5 { Some(*b) } else { None } }
#[inline(never)]
fn triple(a: u32, b: &u32) -> (u64, u64, u64) { (a as u64, *b as u64, 3) }

fn main() {
    let b = 42;
    println!("{:?} {:?} {:?} {:?} {:?}", option(7, &b), result(7, &b), text(7, &b), small(7, &b), triple(7, &b));
}
// SPDX-License-Identifier: Apache-2.0
