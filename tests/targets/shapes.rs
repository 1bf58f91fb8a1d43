// A Rust program: enums with values, slices, strings, generic functions; prints what they came to.
mod shapes {
    pub struct Point {
        pub x: i32,
        pub y: i64,
    }
    pub enum Shape {
        Empty,
        Circle(f64),
        Rect { w: u32, h: u32 },
        Named(String),
    }
    #[derive(Clone, Copy)]
    pub enum Color {
        Red = 1,
        Green = 5,
    }
    impl Point {
        #[inline(never)]
        pub fn length(&self, scale: i32) -> i64 {
            std::hint::black_box(self.x as i64 * scale as i64 + self.y)
        }
    }
    impl std::fmt::Display for Point {
        #[inline(never)]
        fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            write!(f, "{}/{}", self.x, self.y)
        }
    }
    #[inline(never)]
    pub fn area(s: &Shape, name: &str, c: Color, maybe: Option<i32>, boxed: Option<Box<Point>>) -> f64 {
        let n = std::hint::black_box(name.len()); // LINE:area
        match s {
            Shape::Empty => 0.0,
            Shape::Circle(r) => r * r,
            Shape::Rect { w, h } => (w * h) as f64 + n as f64,
            Shape::Named(x) => x.len() as f64 + maybe.unwrap_or(0) as f64 + (c as i32) as f64 + boxed.map_or(0.0, |b| b.x as f64),
        }
    }
}

#[inline(never)]
fn total(v: &[i32], words: &Vec<String>, t: (i32, u8), arr: [u16; 4]) -> i32 {
    std::hint::black_box(0); // LINE:total
    std::hint::black_box(v.iter().sum::<i32>() + words.len() as i32 + t.0 + t.1 as i32 + arr[2] as i32)
}

#[inline(never)]
fn nothing(unit: (), pair: (i32, ()), n: i64) -> i64 {
    std::hint::black_box(unit); // LINE:nothing
    std::hint::black_box(pair.0 as i64 + n)
}

#[inline(never)]
fn generic<T: Into<i64> + Copy>(v: T) -> i64 {
    std::hint::black_box(v.into() + 1)
}

// Optimized code does not give the address of such a result back.
#[inline(never)]
fn checked(x: i32) -> Result<i32, String> {
    if x > 0 {
        Ok(x)
    } else {
        Err(format!("not {}", x))
    }
}

fn main() {
    use shapes::*;
    let mut sum = 0.0;
    for s in [Shape::Empty, Shape::Circle(1.5), Shape::Rect { w: 3, h: 4 }, Shape::Named("abc".to_string())].iter() {
        sum += area(s, "four", Color::Green, Some(7), Some(Box::new(Point { x: 1, y: 2 })));
        sum += area(s, "five5", Color::Red, None, None);
    }
    let p = Point { x: 3, y: -4 };
    let t = total(&[1, 2, 3], &vec!["a".into(), "bc".into()], (8, 9), [1, 2, 3, 4]);
    println!("sum: {}", sum as i64);
    println!("length: {}", p.length(10));
    println!("total: {}", t);
    println!("generic: {}", generic(5i32) + generic(6u8));
    println!("nothing: {}", nothing((), (5, ()), 7));
    println!("checked: {:?} {:?}", checked(std::hint::black_box(6)), checked(std::hint::black_box(-7)));
    println!("point {}", p);
}
// SPDX-License-Identifier: Apache-2.0
