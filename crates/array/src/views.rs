//! Views: other layouts of the same memory, by NumPy's rules. Nothing here accesses a device.

use crate::layout::{Layout, MAX_NDIM, Order, PythonTuple, Shape, Strides};
use rtcg_hal::{ArrayError, Result};
use smallvec::SmallVec;
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// One item of a basic index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// An integer; negative ones count from the end.
    At(isize),
    /// A slice; `None` where Python omits the bound or the step.
    Slice(Option<isize>, Option<isize>, Option<isize>),
    /// `...`
    Ellipsis,
    /// `numpy.newaxis`
    NewAxis,
}

impl From<isize> for Index {
    fn from(index: isize) -> Self {
        Index::At(index)
    }
}

/// Implements conversions from ranges, alone and in a pair with a step.
macro_rules! impl_index_from_ranges {
    ($($range:ty: |$r:pat_param| $start:expr, $stop:expr;)*) => {$(
        impl From<$range> for Index {
            fn from($r: $range) -> Self {
                Index::Slice($start, $stop, None)
            }
        }

        impl From<($range, isize)> for Index {
            fn from(($r, step): ($range, isize)) -> Self {
                Index::Slice($start, $stop, Some(step))
            }
        }
    )*};
}

impl_index_from_ranges! {
    Range<isize>: |r| Some(r.start), Some(r.end);
    RangeFrom<isize>: |r| Some(r.start), None;
    RangeTo<isize>: |r| None, Some(r.end);
    RangeFull: |_| None, None;
}

/// Normalises `axis` to count from the front.
///
/// # Errors
/// When the array has no such axis.
pub fn normalize_axis(axis: isize, ndim: usize) -> Result<usize> {
    let from_front = if axis < 0 { axis + ndim as isize } else { axis };
    match usize::try_from(from_front) {
        Ok(found) if found < ndim => Ok(found),
        _ => Err(ArrayError::axis_error(axis, ndim)),
    }
}

/// Normalises several axes to count from the front, and checks that none is repeated.
///
/// # Errors
/// When the array has no such axis, or one is named twice.
pub fn normalize_axes(axes: &[isize], ndim: usize) -> Result<SmallVec<[usize; 4]>> {
    let mut found: SmallVec<[usize; 4]> = SmallVec::new();
    for &axis in axes {
        let axis = normalize_axis(axis, ndim)?;
        if found.contains(&axis) {
            return Err(ArrayError::value_error("duplicate value in 'axis'"));
        }
        found.push(axis);
    }
    Ok(found)
}

/// `(first index, number of elements, step)` of a slice of an axis, as Python's `slice.indices`.
fn slice_indices(
    start: Option<isize>,
    stop: Option<isize>,
    step: Option<isize>,
    length: usize,
) -> Result<(usize, usize, isize)> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(ArrayError::value_error("slice step cannot be zero"));
    }
    let length = length as isize;
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clamp = |bound: isize| {
        let bound = if bound < 0 { bound.saturating_add(length) } else { bound };
        bound.clamp(low, high)
    };
    let start = start.map_or(if step > 0 { low } else { high }, clamp);
    let stop = stop.map_or(if step > 0 { high } else { low }, clamp);
    let count = if step > 0 {
        if stop > start { (stop - start - 1) / step + 1 } else { 0 }
    } else if start > stop {
        // Two steps of division, because `isize::MIN` has no positive counterpart.
        ((start - stop - 1) as usize / step.unsigned_abs()) as isize + 1
    } else {
        0
    };
    Ok((if count == 0 { 0 } else { start as usize }, count as usize, step))
}

impl Layout {
    fn shifted_offset(&self, bytes: isize) -> usize {
        // Views of an array without elements may point anywhere; they are never followed.
        (self.offset as isize).wrapping_add(bytes) as usize
    }

    /// Applies a basic index: integers, slices, `...` and new axes.
    ///
    /// # Errors
    /// When there are too many indices, one is out of bounds, or a step is 0.
    pub fn index(&self, items: &[Index]) -> Result<Layout> {
        let used = items.iter().filter(|item| matches!(item, Index::At(_) | Index::Slice(..))).count();
        if items.iter().filter(|item| **item == Index::Ellipsis).count() > 1 {
            return Err(ArrayError::index_error("an index can only have a single ellipsis ('...')"));
        }
        if used > self.ndim() {
            return Err(ArrayError::index_error(format!(
                "too many indices for array: array is {}-dimensional, but {used} were indexed",
                self.ndim()
            )));
        }
        let mut view = Layout { shape: Shape::new(), strides: Strides::new(), offset: self.offset };
        let mut axis = 0;
        let keep = |view: &mut Layout, axis: &mut usize, count: usize| {
            view.shape.extend_from_slice(&self.shape[*axis..*axis + count]);
            view.strides.extend_from_slice(&self.strides[*axis..*axis + count]);
            *axis += count;
        };
        for item in items {
            match *item {
                Index::Ellipsis => keep(&mut view, &mut axis, self.ndim() - used),
                Index::NewAxis => {
                    view.shape.push(1);
                    view.strides.push(0);
                }
                Index::At(index) => {
                    let place = self.normalize_index(index, axis)?;
                    view.offset = view.shifted_offset(place as isize * self.strides[axis]);
                    axis += 1;
                }
                Index::Slice(start, stop, step) => {
                    let (start, count, step) = slice_indices(start, stop, step, self.shape[axis])?;
                    view.offset = view.shifted_offset(start as isize * self.strides[axis]);
                    view.shape.push(count);
                    view.strides.push(self.strides[axis].wrapping_mul(step));
                    axis += 1;
                }
            }
        }
        let rest = self.ndim() - axis;
        keep(&mut view, &mut axis, rest);
        view.check_ndim()
    }

    fn normalize_index(&self, index: isize, axis: usize) -> Result<usize> {
        let length = self.shape[axis];
        let from_front = if index < 0 { index.saturating_add(length as isize) } else { index };
        match usize::try_from(from_front) {
            Ok(place) if place < length => Ok(place),
            _ => Err(ArrayError::index_error(format!(
                "index {index} is out of bounds for axis {axis} with size {length}"
            ))),
        }
    }

    fn check_ndim(self) -> Result<Layout> {
        if self.ndim() <= MAX_NDIM {
            return Ok(self);
        }
        let ndim = self.ndim();
        Err(ArrayError::value_error(format!("{ndim} axes; an array has {MAX_NDIM} at most")))
    }

    /// Permutes the axes, or reverses all of them without `axes`.
    ///
    /// # Errors
    /// When `axes` is not a permutation.
    pub fn transpose(&self, axes: Option<&[isize]>) -> Result<Layout> {
        let order: SmallVec<[usize; 4]> = match axes {
            None => (0..self.ndim()).rev().collect(),
            Some(axes) if axes.len() != self.ndim() => {
                return Err(ArrayError::value_error(format!(
                    "axes don't match array: {} were given for {} dimensions",
                    PythonTuple(axes),
                    self.ndim()
                )));
            }
            Some(axes) => normalize_axes(axes, self.ndim()).map_err(|error| {
                if error.kind() == rtcg_hal::ArrayErrorKind::Value {
                    ArrayError::value_error("repeated axis in transpose")
                } else {
                    error
                }
            })?,
        };
        Ok(Layout {
            shape: order.iter().map(|&axis| self.shape[axis]).collect(),
            strides: order.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    /// Moves the axes `source` to the positions `destination`.
    ///
    /// # Errors
    /// When an axis does not exist, is named twice, or the numbers of axes differ.
    pub fn moveaxis(&self, source: &[isize], destination: &[isize]) -> Result<Layout> {
        let (source, destination) = (normalize_axes(source, self.ndim())?, normalize_axes(destination, self.ndim())?);
        if source.len() != destination.len() {
            return Err(ArrayError::value_error(
                "`source` and `destination` arguments must have the same number of elements",
            ));
        }
        let mut order: Vec<isize> =
            (0..self.ndim()).filter(|axis| !source.contains(axis)).map(|axis| axis as isize).collect();
        let mut pairs: Vec<_> = destination.iter().zip(&source).collect();
        pairs.sort();
        for (&to, &from) in pairs {
            order.insert(to, from as isize);
        }
        self.transpose(Some(&order))
    }

    /// Swaps two axes.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn swapaxes(&self, a: isize, b: isize) -> Result<Layout> {
        let (a, b) = (normalize_axis(a, self.ndim())?, normalize_axis(b, self.ndim())?);
        let mut view = self.clone();
        view.shape.swap(a, b);
        view.strides.swap(a, b);
        Ok(view)
    }

    /// Inserts axes of length 1 at these positions of the result.
    ///
    /// # Errors
    /// When a position does not exist in the result or is named twice.
    pub fn expand_dims(&self, axes: &[isize]) -> Result<Layout> {
        let ndim = self.ndim() + axes.len();
        let places = normalize_axes(axes, ndim)?;
        let (mut view, mut next) = (Layout { shape: Shape::new(), strides: Strides::new(), offset: self.offset }, 0);
        for place in 0..ndim {
            if places.contains(&place) {
                view.shape.push(1);
                view.strides.push(0);
            } else {
                view.shape.push(self.shape[next]);
                view.strides.push(self.strides[next]);
                next += 1;
            }
        }
        view.check_ndim()
    }

    /// Removes axes of length 1: all, or the given ones.
    ///
    /// # Errors
    /// When a given axis does not exist or has another length.
    pub fn squeeze(&self, axes: Option<&[isize]>) -> Result<Layout> {
        let given = axes.map(|axes| normalize_axes(axes, self.ndim())).transpose()?;
        if let Some(&axis) = given.iter().flatten().find(|&&axis| self.shape[axis] != 1) {
            return Err(ArrayError::value_error(format!(
                "cannot select an axis to squeeze out which has size not equal to one: axis {axis} of shape {}",
                PythonTuple(&self.shape)
            )));
        }
        let dropped = |axis: usize| given.as_ref().map_or(self.shape[axis] == 1, |axes| axes.contains(&axis));
        let kept = (0..self.ndim()).filter(|&axis| !dropped(axis));
        Ok(Layout {
            shape: kept.clone().map(|axis| self.shape[axis]).collect(),
            strides: kept.map(|axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    /// Broadcasts to a larger shape, with strides of 0.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Layout> {
        let new = shape.len().checked_sub(self.ndim());
        let fits =
            new.is_some_and(|new| self.shape.iter().zip(&shape[new..]).all(|(&have, &want)| have == want || have == 1));
        let Some(new) = new.filter(|_| fits) else {
            return Err(ArrayError::value_error(format!(
                "operands could not be broadcast together: shape {} does not fit into {}",
                PythonTuple(&self.shape),
                PythonTuple(shape)
            )));
        };
        let mut strides: Strides = SmallVec::from_elem(0, shape.len());
        for (axis, (&length, &stride)) in self.shape.iter().zip(&self.strides).enumerate() {
            strides[new + axis] = if length == 1 { 0 } else { stride };
        }
        Ok(Layout { shape: shape.into(), strides, offset: self.offset })
    }

    /// Reverses axes: all, or the given ones.
    ///
    /// # Errors
    /// When an axis does not exist or is named twice.
    pub fn flip(&self, axes: Option<&[isize]>) -> Result<Layout> {
        let axes = match axes {
            Some(axes) => normalize_axes(axes, self.ndim())?,
            None => (0..self.ndim()).collect(),
        };
        let mut view = self.clone();
        for axis in axes {
            let last = self.shape[axis].saturating_sub(1) as isize;
            view.offset = view.shifted_offset(last * self.strides[axis]);
            view.strides[axis] = -self.strides[axis];
        }
        Ok(view)
    }

    /// Returns the diagonals of the planes of two axes, as the last axis.
    ///
    /// # Errors
    /// When the axes do not exist or are the same.
    pub fn diagonal(&self, offset: isize, axis1: isize, axis2: isize) -> Result<Layout> {
        if self.ndim() < 2 {
            return Err(ArrayError::value_error("diag requires an array of at least two dimensions"));
        }
        let (a, b) = (normalize_axis(axis1, self.ndim())?, normalize_axis(axis2, self.ndim())?);
        if a == b {
            return Err(ArrayError::value_error("axis1 and axis2 cannot be the same"));
        }
        let (skip_a, skip_b) = if offset < 0 { (offset.unsigned_abs(), 0) } else { (0, offset.unsigned_abs()) };
        let length = self.shape[a].saturating_sub(skip_a).min(self.shape[b].saturating_sub(skip_b));
        let mut view = self.clone();
        if length > 0 {
            view.offset = view.shifted_offset(skip_a as isize * self.strides[a] + skip_b as isize * self.strides[b]);
        }
        for axis in [a.max(b), a.min(b)] {
            view.shape.remove(axis);
            view.strides.remove(axis);
        }
        view.shape.push(length);
        view.strides.push(self.strides[a] + self.strides[b]);
        Ok(view)
    }

    /// Changes the shape of the same memory, with elements of `item` bytes counted in `order`; `None` if this needs a
    /// copy.
    pub fn reshape(&self, shape: &[usize], item: usize, order: Order) -> Option<Layout> {
        let reversed = |slice: &[usize]| slice.iter().rev().copied().collect::<Shape>();
        match order {
            Order::C => {
                let strides = reshaped_strides(&self.shape, &self.strides, shape, item)?;
                Some(Layout { shape: shape.into(), strides, offset: self.offset })
            }
            Order::F => {
                let strides: Strides = self.strides.iter().rev().copied().collect();
                let mut strides = reshaped_strides(&reversed(&self.shape), &strides, &reversed(shape), item)?;
                strides.reverse();
                Some(Layout { shape: shape.into(), strides, offset: self.offset })
            }
        }
    }

    /// Reinterprets the memory as elements of another size, by rescaling the last axis (NumPy's rule).
    ///
    /// # Errors
    /// When the last axis is not contiguous or its byte length is not divisible.
    pub fn view_as(&self, from: usize, to: usize) -> Result<Layout> {
        if from == to {
            return Ok(self.clone());
        }
        let Some(last) = self.ndim().checked_sub(1) else {
            return Err(ArrayError::value_error(
                "Changing the dtype of a 0d array is only supported if the itemsize is unchanged",
            ));
        };
        // Upstream rescales whichever axis is contiguous; so do we, the last one first.
        let axis =
            (0..=last).rev().find(|&axis| self.shape[axis] != 1 && self.strides[axis] == from as isize).unwrap_or(last);
        let bytes = self.shape[axis] * from;
        if self.strides[axis] != from as isize && self.shape[axis] != 1 && self.size() != 0 {
            return Err(ArrayError::value_error(
                "To change to a dtype of a different size, the last axis must be contiguous",
            ));
        }
        if !bytes.is_multiple_of(to) {
            return Err(ArrayError::value_error(format!(
                "When changing to a {} dtype, its size must be a divisor of the total size in bytes of the axis: {bytes} bytes, item size {to}",
                if to > from { "larger" } else { "smaller" }
            )));
        }
        let mut view = self.clone();
        view.shape[axis] = bytes / to;
        view.strides[axis] = to as isize;
        Ok(view)
    }
}

/// Strides for `new` over memory of shape `old`, both counted with the last axis fastest. Runs of
/// axes of equal numbers of elements are matched; each run of old axes must be evenly spaced.
fn reshaped_strides(old: &[usize], old_strides: &[isize], new: &[usize], item: usize) -> Option<Strides> {
    let kept: SmallVec<[(usize, isize); 4]> =
        old.iter().copied().zip(old_strides.iter().copied()).filter(|axis| axis.0 != 1).collect();
    let mut strides: Strides = SmallVec::from_elem(0, new.len());
    let size: usize = old.iter().product();
    if size != new.iter().product::<usize>() {
        return None;
    }
    if size == 0 {
        // Nothing lies anywhere: any strides do, and those of a dense array are the least surprising.
        return Some(Layout::contiguous(new, item, Order::C).strides);
    }
    let (mut old_axis, mut new_axis) = (0, 0);
    while new_axis < new.len() && old_axis < kept.len() {
        let (mut old_count, mut new_count) = (kept[old_axis].0, new[new_axis]);
        let (mut old_end, mut new_end) = (old_axis + 1, new_axis + 1);
        while old_count != new_count {
            if new_count < old_count {
                new_count *= new[new_end];
                new_end += 1;
            } else {
                old_count *= kept[old_end].0;
                old_end += 1;
            }
        }
        let spaced = kept[old_axis..old_end].windows(2).all(|pair| pair[0].1 == pair[1].1 * pair[1].0 as isize);
        if !spaced {
            return None;
        }
        let mut step = kept[old_end - 1].1;
        for axis in (new_axis..new_end).rev() {
            strides[axis] = step;
            step *= new[axis] as isize;
        }
        (old_axis, new_axis) = (old_end, new_end);
    }
    // What is left are axes of length 1.
    let last = new_axis.checked_sub(1).map_or(item as isize, |axis| strides[axis]);
    strides[new_axis..].fill(last);
    Some(strides)
}

/// A shape in which one length may be -1, for as many elements as `size`.
///
/// # Errors
/// When the numbers of elements differ, or several lengths are negative.
pub(crate) fn resolve_shape(shape: &[isize], size: usize) -> Result<Shape> {
    let shown = || PythonTuple(shape);
    let mismatch = || ArrayError::value_error(format!("cannot reshape array of size {size} into shape {}", shown()));
    let mut unknown = None;
    let mut known = 1usize;
    for (axis, &length) in shape.iter().enumerate() {
        match usize::try_from(length) {
            Ok(length) => known = known.checked_mul(length).ok_or_else(mismatch)?,
            Err(_) if length == -1 && unknown.is_none() => unknown = Some(axis),
            Err(_) if length == -1 => return Err(ArrayError::value_error("can only specify one unknown dimension")),
            Err(_) => return Err(ArrayError::value_error(format!("negative dimensions are not allowed: {}", shown()))),
        }
    }
    let mut resolved: Shape = shape.iter().map(|&length| length.max(0) as usize).collect();
    match unknown {
        Some(axis) if known > 0 && size.is_multiple_of(known) => resolved[axis] = size / known,
        None if known == size => {}
        _ => return Err(mismatch()),
    }
    Ok(resolved)
}
