//! Structure layouts by C's rules, which are those of NumPy's aligned types.

use super::declarator::{Declarator, Struct, Wrapper};

/// Offsets, size and alignment of a structure, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Offset of each member in bytes.
    pub offsets: Vec<usize>,
    /// Size with all padding.
    pub nbytes: usize,
    /// Alignment in bytes.
    pub alignment: usize,
    /// Bytes after the last member, part of `nbytes`.
    pub pad_bytes: usize,
}

/// Computes the layout of members with these sizes and alignments.
///
/// The size is padded to a multiple of `align_bytes`, or of the largest alignment, and further until that multiple has
/// no factor in common with any of `prime_to` (which avoids bank conflicts in shared memory for arrays of the
/// structure). `None` if there is no such multiple: for a factor of 0, or an alignment of 0.
pub fn struct_layout(members: &[(usize, usize)], align_bytes: Option<usize>, prime_to: &[usize]) -> Option<Layout> {
    let natural = members.iter().map(|m| m.1).max().unwrap_or(1);
    let align = align_bytes.unwrap_or(natural);
    if align == 0 || prime_to.contains(&0) || members.iter().any(|m| m.1 == 0) {
        return None;
    }
    let mut end = 0_usize;
    let mut offsets = Vec::with_capacity(members.len());
    for &(size, alignment) in members {
        let offset = end.next_multiple_of(alignment);
        offsets.push(offset);
        end = offset + size;
    }
    let fits = |n: &usize| prime_to.iter().all(|&p| gcd(*n, p) == 1);
    let count = (end.div_ceil(align)..).find(fits)?;
    let nbytes = count * align;
    Some(Layout { offsets, nbytes, alignment: align, pad_bytes: nbytes - end })
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Struct {
    /// The layout, if the sizes of all members are known.
    pub fn layout(&self) -> Option<Layout> {
        let members: Option<Vec<_>> = self.fields.iter().map(Declarator::size_and_alignment).collect();
        let mut layout = struct_layout(&members?, None, &[])?;
        layout.nbytes = (layout.nbytes - layout.pad_bytes + self.pad_bytes).next_multiple_of(layout.alignment);
        Some(layout)
    }

    /// Makes the padding at the end explicit, such that the size is a multiple of `align_bytes` and prime to
    /// `prime_to`; see [`struct_layout`].
    pub fn padded(mut self, align_bytes: Option<usize>, prime_to: &[usize]) -> Option<Self> {
        let members: Option<Vec<_>> = self.fields.iter().map(Declarator::size_and_alignment).collect();
        self.pad_bytes = struct_layout(&members?, align_bytes, prime_to)?.pad_bytes;
        Some(self)
    }
}

impl Declarator {
    /// Size and alignment in bytes, if known; for types given by name they are not.
    pub fn size_and_alignment(&self) -> Option<(usize, usize)> {
        let pointer = (size_of::<usize>(), align_of::<usize>());
        match self {
            Self::Pod(dtype, _) => Some((dtype.size(), dtype.alignment())),
            Self::Wrapped(Wrapper::Pointer | Wrapper::RestrictPointer | Wrapper::Reference, _) => Some(pointer),
            Self::Wrapped(Wrapper::Array(Some(count)), inner) => {
                let (size, alignment) = inner.size_and_alignment()?;
                Some((size * count.to_string().parse::<usize>().ok()?, alignment))
            }
            Self::Wrapped(Wrapper::Array(None), _) => None,
            Self::Wrapped(Wrapper::Aligned(_), _) => None,
            Self::Wrapped(_, inner) => inner.size_and_alignment(),
            Self::Struct(body) => body.layout().map(|layout| (layout.nbytes, layout.alignment)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype::{Float64, Int8, Int32};

    #[test]
    fn members_lie_as_c_puts_them() {
        let layout = struct_layout(&[(1, 1), (8, 8), (2, 2)], None, &[]).unwrap();
        assert_eq!((layout.offsets, layout.nbytes, layout.pad_bytes), (vec![0, 8, 16], 24, 6));
        assert_eq!(struct_layout(&[(4, 4)], Some(4), &[2]).unwrap().nbytes, 4);
        assert_eq!(struct_layout(&[(4, 4), (4, 4)], Some(4), &[2]).unwrap().nbytes, 12);
        assert_eq!(struct_layout(&[(4, 4)], Some(4), &[0]), None);
    }

    #[test]
    fn a_structure_in_a_structure_keeps_its_alignment() {
        let inner = Struct { declarator: Some("in".into()), ..Struct::new("S", [Declarator::pod(Float64, "x")]) };
        let outer =
            Struct::new("T", [Declarator::pod(Int8, "c"), inner.into(), Declarator::pod(Int32, "i").array("3")]);
        let layout = outer.layout().unwrap();
        assert_eq!((layout.offsets, layout.nbytes), (vec![0, 8, 16], 32));
    }
}
