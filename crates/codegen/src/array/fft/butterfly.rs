//! Small discrete Fourier transforms as straight-line code over a thread's elements, with constants exact to double
//! precision.
//!
//! Composite lengths are split by Cooley and Tukey's algorithm; odd primes exploit the symmetry between pairs of
//! coefficients, which halves the products.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::fmt::Write;

/// Names of the real and the imaginary part of a value.
type ComplexNames = (String, String);

/// Writes statements, each value under a name of its own.
struct ButterflyWriter {
    text: String,
    values: usize,
}

/// `dft<n>`, which replaces `v[0..n]` by their transform with the exponent -2 pi i j k / n.
pub(super) fn dft_function_source(n: usize) -> String {
    let mut writer = ButterflyWriter { text: String::new(), values: 0 };
    let inputs: Vec<ComplexNames> = (0..n).map(|j| (format!("v[{j}].x"), format!("v[{j}].y"))).collect();
    let inputs: Vec<ComplexNames> = inputs.iter().map(|(x, y)| writer.emit_value(x, y)).collect();
    for (k, (x, y)) in writer.emit_dft(&inputs).iter().enumerate() {
        let _ = writeln!(writer.text, "  v[{k}].x = {x}; v[{k}].y = {y};");
    }
    format!("__device__ __forceinline__ void dft{n}(C *v)\n{{\n{}}}\n", writer.text)
}

/// The smaller of two factors that `n` is split into; `n` itself if it is prime.
fn cooley_tukey_factor(n: usize) -> usize {
    if n > 4 && n.is_multiple_of(4) {
        return 4;
    }
    (2..n).find(|p| n.is_multiple_of(*p)).unwrap_or(n)
}

impl ButterflyWriter {
    fn emit_value(&mut self, x: &str, y: &str) -> ComplexNames {
        let names = (format!("x{}", self.values), format!("y{}", self.values));
        self.values += 1;
        let _ = writeln!(self.text, "  const R {} = {x}, {} = {y};", names.0, names.1);
        names
    }

    fn emit_sum(&mut self, a: &ComplexNames, b: &ComplexNames) -> ComplexNames {
        self.emit_value(&format!("{} + {}", a.0, b.0), &format!("{} + {}", a.1, b.1))
    }

    fn emit_difference(&mut self, a: &ComplexNames, b: &ComplexNames) -> ComplexNames {
        self.emit_value(&format!("{} - {}", a.0, b.0), &format!("{} - {}", a.1, b.1))
    }

    /// `a - i b` and `a + i b`.
    fn emit_minus_plus_i(&mut self, a: &ComplexNames, b: &ComplexNames) -> [ComplexNames; 2] {
        [
            self.emit_value(&format!("{} + {}", a.0, b.1), &format!("{} - {}", a.1, b.0)),
            self.emit_value(&format!("{} - {}", a.0, b.1), &format!("{} + {}", a.1, b.0)),
        ]
    }

    fn emit_dft(&mut self, v: &[ComplexNames]) -> Vec<ComplexNames> {
        match v.len() {
            1 => v.to_vec(),
            2 => vec![self.emit_sum(&v[0], &v[1]), self.emit_difference(&v[0], &v[1])],
            4 => {
                let (even, odd) = (self.emit_sum(&v[0], &v[2]), self.emit_sum(&v[1], &v[3]));
                let (even_left, odd_left) = (self.emit_difference(&v[0], &v[2]), self.emit_difference(&v[1], &v[3]));
                let [second, fourth] = self.emit_minus_plus_i(&even_left, &odd_left);
                vec![self.emit_sum(&even, &odd), second, self.emit_difference(&even, &odd), fourth]
            }
            n if cooley_tukey_factor(n) == n => self.emit_odd_prime_dft(v),
            n => self.emit_cooley_tukey(v, cooley_tukey_factor(n)),
        }
    }

    /// Transforms of `a` elements each, twiddles, transforms of `n / a` elements each.
    fn emit_cooley_tukey(&mut self, v: &[ComplexNames], a: usize) -> Vec<ComplexNames> {
        let (n, b) = (v.len(), v.len() / a);
        let columns: Vec<Vec<ComplexNames>> = (0..b)
            .map(|j2| {
                let column: Vec<ComplexNames> = (0..a).map(|j1| v[j1 * b + j2].clone()).collect();
                self.emit_dft(&column)
            })
            .collect();
        let mut result = vec![ComplexNames::default(); n];
        for k1 in 0..a {
            let row: Vec<ComplexNames> =
                (0..b).map(|j2| self.emit_twiddle_multiply(&columns[j2][k1], j2 * k1, n)).collect();
            for (k2, value) in self.emit_dft(&row).into_iter().enumerate() {
                result[k1 + a * k2] = value;
            }
        }
        result
    }

    /// `v` times exp(-2 pi i e / n).
    fn emit_twiddle_multiply(&mut self, v: &ComplexNames, e: usize, n: usize) -> ComplexNames {
        let (x, y) = v;
        let half = FRAC_1_SQRT_2;
        match 8 * (e % n) {
            0 => v.clone(),
            eighths if eighths == n => {
                self.emit_value(&format!("(R){half:?} * ({x} + {y})"), &format!("(R){half:?} * ({y} - {x})"))
            }
            eighths if eighths == 2 * n => self.emit_value(y, &format!("-{x}")),
            eighths if eighths == 3 * n => {
                self.emit_value(&format!("(R){half:?} * ({y} - {x})"), &format!("(R){:?} * ({x} + {y})", -half))
            }
            eighths if eighths == 4 * n => self.emit_value(&format!("-{x}"), &format!("-{y}")),
            _ => {
                let (c, s) = cos_sin(e, n);
                self.emit_value(
                    &format!("(R){c:?} * {x} + (R){s:?} * {y}"),
                    &format!("(R){c:?} * {y} - (R){s:?} * {x}"),
                )
            }
        }
    }

    fn emit_odd_prime_dft(&mut self, v: &[ComplexNames]) -> Vec<ComplexNames> {
        let p = v.len();
        let pairs: Vec<[ComplexNames; 2]> =
            (1..=p / 2).map(|r| [self.emit_sum(&v[r], &v[p - r]), self.emit_difference(&v[r], &v[p - r])]).collect();
        let total = |part: fn(&ComplexNames) -> &String| {
            let terms: Vec<&str> =
                std::iter::once(part(&v[0]).as_str()).chain(pairs.iter().map(|pair| part(&pair[0]).as_str())).collect();
            terms.join(" + ")
        };
        let (x, y) = (total(|v| &v.0), total(|v| &v.1));
        let mut result = vec![ComplexNames::default(); p];
        result[0] = self.emit_value(&x, &y);
        for k in 1..=p / 2 {
            let (mut even, mut odd) = ((v[0].0.clone(), v[0].1.clone()), (String::new(), String::new()));
            for (r, [sum, difference]) in (1..).zip(&pairs) {
                let (c, s) = cos_sin(r * k, p);
                let plus = if r == 1 { "" } else { " + " };
                let _ = write!(even.0, " + (R){c:?} * {}", sum.0);
                let _ = write!(even.1, " + (R){c:?} * {}", sum.1);
                let _ = write!(odd.0, "{plus}(R){s:?} * {}", difference.0);
                let _ = write!(odd.1, "{plus}(R){s:?} * {}", difference.1);
            }
            let (even, odd) = (self.emit_value(&even.0, &even.1), self.emit_value(&odd.0, &odd.1));
            [result[k], result[p - k]] = self.emit_minus_plus_i(&even, &odd);
        }
        result
    }
}

/// Cosine and sine of 2 pi e / n, from an angle in the first octant.
fn cos_sin(e: usize, n: usize) -> (f64, f64) {
    let e = e % n;
    if 2 * e > n {
        let (c, s) = cos_sin(n - e, n);
        return (c, -s);
    }
    if 4 * e > n {
        // exp(i a) = i exp(i (a - pi / 2)), in parts of a circle of 4 n.
        let (c, s) = cos_sin_first_quadrant(4 * e - n, 4 * n);
        return (-s, c);
    }
    cos_sin_first_quadrant(e, n)
}

/// [`cos_sin`] of an angle of the first quadrant.
fn cos_sin_first_quadrant(e: usize, n: usize) -> (f64, f64) {
    if 8 * e > n {
        let angle = 2.0 * PI * (n - 4 * e) as f64 / (4 * n) as f64;
        return (angle.sin(), angle.cos());
    }
    let angle = 2.0 * PI * e as f64 / n as f64;
    (angle.cos(), angle.sin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cos_sin_constants_match_the_angle() {
        for n in 1..40 {
            for e in 0..2 * n {
                let (c, s) = cos_sin(e, n);
                let angle = 2.0 * PI * e as f64 / n as f64;
                assert!((c - angle.cos()).abs() < 4e-15 && (s - angle.sin()).abs() < 4e-15, "{e} / {n}");
            }
        }
        assert_eq!(cos_sin(1, 4), (0.0, 1.0));
    }

    #[test]
    fn lengths_are_split_into_fours_first() {
        assert_eq!([8, 16, 12, 6, 9, 4, 13].map(cooley_tukey_factor), [4, 4, 4, 2, 3, 2, 13]);
    }
}
