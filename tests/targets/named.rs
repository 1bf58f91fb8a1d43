// Rust names of every kind: instances of generic functions, implementations of traits, closures, letters that are no ASCII.
use std::fmt;
pub mod shapes {
    pub struct Point<T> { pub x: T }
    impl<T: Copy + Into<f64>> Point<T> { #[inline(never)] pub fn length(&self) -> f64 { self.x.into() } }
    impl Point<i32> { #[inline(never)] pub fn only(&self) -> i32 { self.x } }
    pub trait Area { fn area(&self) -> f64; #[inline(never)] fn twice(&self) -> f64 { 2.0 * self.area() } }
    impl Area for Point<i32> { #[inline(never)] fn area(&self) -> f64 { self.x as f64 } }
    impl Area for Point<f32> { #[inline(never)] fn area(&self) -> f64 { self.x as f64 + 0.5 } }
    impl Area for [u8] { #[inline(never)] fn area(&self) -> f64 { self.len() as f64 } }
    impl Area for (u8, &str) { #[inline(never)] fn area(&self) -> f64 { self.0 as f64 } }
}
use shapes::*;
impl fmt::Display for Point<i32> { #[inline(never)] fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, "{}", self.x) } }
#[inline(never)] fn biggest<T: PartialOrd + Copy>(v: &[T]) -> T { let mut m = v[0]; for &x in v { if x > m { m = x; } } m }
#[inline(never)] fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 { f(n) }
#[inline(never)] fn übung(x: i32) -> i32 { x + 1 }
impl Drop for Point2 { #[inline(never)] fn drop(&mut self) { println!("dropped"); } }
struct Point2;
fn main() {
    let p = Point { x: 3 }; let q = Point { x: 2.5f32 }; let _d = Point2;
    println!("{} {} {} {} {}", p.length(), q.length(), p.only(), p.area(), q.area());
    println!("{} {} {} {} {}", p.twice(), q.twice(), [1u8, 2][..].area(), (3u8, "x").area(), p);
    println!("{} {} {}", biggest(&[1, 5, 3]), biggest(&[0.5, 0.25]), biggest(&['a', 'z']));
    let k = p.x; println!("{} {} {}", apply(|n| n + k, 1), apply(|n| { let g = |m: i32| m * k; g(n) + 1 }, 2), übung(1));
}
// SPDX-License-Identifier: Apache-2.0
