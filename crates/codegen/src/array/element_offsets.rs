//! Computes the offset of the element with a flat index in operands of any strides.
//!
//! The kernel gets a structure with the length of every axis and the strides of every operand. With 32-bit indices, a
//! division by a length is a multiplication and a shift (T. Granlund and P. L. Montgomery, "Division by invariant
//! integers using multiplication", 1994); the structure has their constants beside the lengths.

use std::fmt::Write;

/// Axes and index width of a strided kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexSpace {
    /// Number of axes, at least 1.
    pub ndim: u8,
    /// Whether indices and offsets have 64 bits.
    pub wide: bool,
}

impl IndexSpace {
    /// The C type of an index.
    pub(super) fn index_type(self) -> &'static str {
        if self.wide { "unsigned long long" } else { "unsigned int" }
    }

    /// The C type of an offset in bytes.
    pub(super) fn offset_type(self) -> &'static str {
        if self.wide { "long long" } else { "int" }
    }

    /// The declaration of the structure `name` for `n_operands` operands.
    pub(super) fn dims_struct(self, name: &str, n_operands: usize) -> String {
        let (ndim, index, offset) = (self.ndim, self.index_type(), self.offset_type());
        let n_operands = n_operands.max(1);
        let magic = if self.wide { String::new() } else { format!(" unsigned int factor[{ndim}], shift[{ndim}];") };
        format!("struct {name} {{ {index} size[{ndim}];{magic} {offset} stride[{n_operands}][{ndim}]; }};\n")
    }

    /// Statements that declare the byte offsets `{prefix}0`, `{prefix}1`, ... of the element with
    /// flat index `index`, the last axis being the fastest.
    pub(super) fn offset_statements(
        self,
        dims: &str,
        index: &str,
        n_operands: usize,
        prefix: &str,
        indent: &str,
    ) -> String {
        let (ty, offset) = (self.index_type(), self.offset_type());
        let mut out = String::new();
        for operand in 0..n_operands {
            let _ = writeln!(out, "{indent}{offset} {prefix}{operand} = 0;");
        }
        let _ = writeln!(out, "{indent}{{ {ty} rest = ({ty})({index});");
        for axis in (1..self.ndim).rev() {
            let divide = if self.wide {
                format!("rest / {dims}.size[{axis}]")
            } else {
                format!("(__umulhi(rest, {dims}.factor[{axis}]) + rest) >> {dims}.shift[{axis}]")
            };
            let _ = write!(
                out,
                "{indent}  {{ {ty} next = {divide}; {offset} at = ({offset})(rest - next * {dims}.size[{axis}]); rest = next;"
            );
            for operand in 0..n_operands {
                let _ = write!(out, " {prefix}{operand} += at * {dims}.stride[{operand}][{axis}];");
            }
            out.push_str(" }\n");
        }
        out.push_str(indent);
        for operand in 0..n_operands {
            let _ = write!(out, " {prefix}{operand} += ({offset})rest * {dims}.stride[{operand}][0];");
        }
        out.push_str(" }\n");
        out
    }
}

/// The multiplier and shift that divide numbers below 2^31 by `divisor` (1 to 2^31 - 1).
pub fn division_multiplier_and_shift(divisor: u32) -> (u32, u32) {
    let shift = 32 - (divisor.max(1) - 1).leading_zeros();
    let factor = ((1u64 << 32) * ((1u64 << shift) - u64::from(divisor)) / u64::from(divisor.max(1))) + 1;
    (factor as u32, shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_multiplication_is_exact() {
        let high = |a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        let top = (1u32 << 31) - 1;
        for divisor in (1..2000).chain([65535, 65536, 65537, 1 << 30, top - 1, top]) {
            let (factor, shift) = division_multiplier_and_shift(divisor);
            for n in (0..3000).chain([divisor - 1, divisor, top - 1, top, top / divisor * divisor]) {
                assert_eq!((high(n, factor) + n) >> shift, n / divisor, "{n} / {divisor}");
            }
        }
    }
}
