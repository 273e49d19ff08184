//! Memory layouts of arrays: shape, byte strides, and the offset of the first element.

use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// Lengths of axes.
pub type Shape = SmallVec<[usize; 4]>;
/// Bytes from one element to the next along each axis.
pub type Strides = SmallVec<[isize; 4]>;

/// NumPy's maximum number of axes.
pub const MAX_NDIM: usize = 64;

/// Which index varies fastest in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last one (row major).
    C,
    /// The first one (column major).
    F,
}

/// A shape, printed as a Python tuple: `(2, 3)`.
pub struct PythonTuple<'a, T>(pub &'a [T]);

impl<T: fmt::Display> fmt::Display for PythonTuple<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (position, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if position > 0 { ", " } else { "" })?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

/// Shape in elements, strides in bytes, and the first element's offset from the start of the memory.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// Length of each axis.
    pub shape: Shape,
    /// Bytes from one element to the next along each axis.
    pub strides: Strides,
    /// Bytes from the start of the memory to the element at index 0 along all axes.
    pub offset: usize,
}

impl Clone for Layout {
    /// The copies of a few words that the derived code makes one by one.
    #[inline]
    fn clone(&self) -> Self {
        Self {
            shape: SmallVec::from_slice(&self.shape),
            strides: SmallVec::from_slice(&self.strides),
            offset: self.offset,
        }
    }
}

impl Layout {
    /// Makes a contiguous layout at offset 0.
    pub fn contiguous(shape: &[usize], itemsize: usize, order: Order) -> Layout {
        let mut strides = SmallVec::from_elem(0, shape.len());
        let mut step = itemsize as isize;
        let mut place = |axis: usize| {
            strides[axis] = step;
            step *= shape[axis].max(1) as isize;
        };
        match order {
            Order::C => (0..shape.len()).rev().for_each(&mut place),
            Order::F => (0..shape.len()).for_each(&mut place),
        }
        Layout { shape: shape.into(), strides, offset: 0 }
    }

    /// Makes a dense layout with the axes in the memory order of `like` (NumPy's order `K`).
    pub fn dense_like(like: &Layout, itemsize: usize) -> Layout {
        let mut axes: SmallVec<[usize; 4]> = (0..like.ndim()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(like.strides[axis].unsigned_abs()));
        let mut strides = SmallVec::from_elem(0, like.ndim());
        let mut step = itemsize as isize;
        for &axis in axes.iter().rev() {
            strides[axis] = step;
            step *= like.shape[axis].max(1) as isize;
        }
        Layout { shape: like.shape.clone(), strides, offset: 0 }
    }

    /// Whether both have the same shape and strides, wherever the first element lies.
    #[inline]
    pub(crate) fn has_same_shape_and_strides(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        // Few axes are compared sooner than the comparison of memory is called.
        fn slices_equal<T: PartialEq>(a: &[T], b: &[T]) -> bool {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
        }
        Arc::ptr_eq(self, other)
            || (slices_equal(&self.shape, &other.shape) && slices_equal(&self.strides, &other.strides))
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements are contiguous in `order`. Axes of length 1 may have any stride.
    pub fn is_contiguous(&self, itemsize: usize, order: Order) -> bool {
        is_contiguous(&self.shape, &self.strides, itemsize, order)
    }

    /// The order in which this layout is contiguous, if any; `C` if both.
    pub fn order(&self, itemsize: usize) -> Option<Order> {
        [Order::C, Order::F].into_iter().find(|&order| self.is_contiguous(itemsize, order))
    }

    /// Whether the elements fill a range of memory without gaps or overlap, in any order of axes.
    pub fn is_dense(&self, itemsize: usize) -> bool {
        let dense = Layout::dense_like(self, itemsize);
        self.size() == 0
            || (0..self.ndim()).all(|axis| self.shape[axis] == 1 || self.strides[axis] == dense.strides[axis])
    }

    /// The first axis whose elements all share one address: longer than one, with stride 0.
    #[inline]
    pub fn repeated_axis(&self) -> Option<usize> {
        repeated_axis(&self.shape, &self.strides)
    }

    /// The byte range of all elements, relative to the start of the memory. It may begin below zero if the caller made
    /// up the strides.
    pub fn byte_extent(&self, itemsize: usize) -> (isize, isize) {
        let start = self.offset as isize;
        if self.size() == 0 {
            return (start, start);
        }
        let (mut low, mut high) = (start, start + itemsize as isize);
        for (&length, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = stride.saturating_mul(length as isize - 1);
            if reach < 0 {
                low = low.saturating_add(reach);
            } else {
                high = high.saturating_add(reach);
            }
        }
        (low, high)
    }
}

/// [`Layout::is_contiguous`] for a shape and strides.
pub(crate) fn is_contiguous(shape: &[usize], strides: &[isize], itemsize: usize, order: Order) -> bool {
    let mut step = itemsize as isize;
    let mut fits = true;
    let mut check = |axis: usize| {
        let length = shape[axis];
        fits &= length == 1 || strides[axis] == step;
        step = step.wrapping_mul(length as isize);
    };
    match order {
        Order::C => (0..shape.len()).rev().for_each(&mut check),
        Order::F => (0..shape.len()).for_each(&mut check),
    }
    fits || shape.contains(&0)
}

/// [`Layout::repeated_axis`] for a shape and strides; `None` if there are no elements.
#[inline]
pub fn repeated_axis(shape: &[usize], strides: &[isize]) -> Option<usize> {
    let axis = shape.iter().zip(strides).position(|(&length, &stride)| length > 1 && stride == 0)?;
    (!shape.contains(&0)).then_some(axis)
}

/// The shape to which arrays of these shapes broadcast; `None` if they do not fit.
pub fn broadcast_shapes<'a>(shapes: impl Iterator<Item = &'a [usize]> + Clone) -> Option<Shape> {
    let ndim = shapes.clone().map(<[usize]>::len).max().unwrap_or(0);
    let mut result: Shape = SmallVec::from_elem(1, ndim);
    for shape in shapes {
        for (have, &length) in result[ndim - shape.len()..].iter_mut().zip(shape) {
            if *have == 1 {
                *have = length;
            } else if length != 1 && length != *have {
                return None;
            }
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_follow_order() {
        assert_eq!(Layout::contiguous(&[2, 3, 4], 8, Order::C).strides[..], [96, 32, 8]);
        assert_eq!(Layout::contiguous(&[2, 3, 4], 8, Order::F).strides[..], [8, 16, 48]);
        assert_eq!(Layout::contiguous(&[], 8, Order::C).size(), 1);
    }

    #[test]
    fn order_is_found_and_missing_when_strided() {
        let layout =
            |shape: &[usize], strides: &[isize]| Layout { shape: shape.into(), strides: strides.into(), offset: 0 };
        assert_eq!(Layout::contiguous(&[2, 3], 4, Order::F).order(4), Some(Order::F));
        assert_eq!(layout(&[3], &[8]).order(4), None);
        assert_eq!(layout(&[1], &[8]).order(4), Some(Order::C));
        assert_eq!(layout(&[0, 3], &[7, 9]).order(4), Some(Order::C));
        assert!(layout(&[2, 3, 4], &[16, 32, 4]).is_dense(4));
        assert!(!layout(&[2, 3], &[4, 16]).is_dense(4));
    }

    #[test]
    fn shapes_broadcast_as_in_numpy() {
        let of = |shapes: &[&[usize]]| broadcast_shapes(shapes.iter().copied()).map(|shape| shape.to_vec());
        assert_eq!(of(&[&[2, 1, 3], &[4, 1]]), Some(vec![2, 4, 3]));
        assert_eq!(of(&[&[0], &[1]]), Some(vec![0]));
        assert_eq!(of(&[&[2], &[3]]), None);
        assert_eq!(of(&[&[], &[]]), Some(vec![]));
        assert_eq!(of(&[&[0], &[3]]), None);
    }

    #[test]
    fn tuples_are_printed_as_python_does() {
        let shown = |shape: &[usize]| PythonTuple(shape).to_string();
        assert_eq!((shown(&[]).as_str(), shown(&[2]).as_str(), shown(&[2, 3]).as_str()), ("()", "(2,)", "(2, 3)"));
    }
}
