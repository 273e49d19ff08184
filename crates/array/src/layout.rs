//! Shape and strides.

/// Which index varies fastest in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last one (row major).
    C,
    /// The first one (column major).
    F,
}

/// Shape in elements and strides in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// Bytes from one element to the next along each axis.
    pub strides: Vec<isize>,
}

impl Layout {
    /// A contiguous layout.
    pub fn contiguous(shape: &[usize], itemsize: usize, order: Order) -> Layout {
        let mut strides = vec![0; shape.len()];
        let mut step = itemsize as isize;
        let mut place = |axis: usize| {
            strides[axis] = step;
            step *= shape[axis].max(1) as isize;
        };
        match order {
            Order::C => (0..shape.len()).rev().for_each(&mut place),
            Order::F => (0..shape.len()).for_each(&mut place),
        }
        Layout { shape: shape.to_vec(), strides }
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether elements lie one after the other in `order`. Axes of length 1 may have any stride.
    pub fn is_contiguous(&self, itemsize: usize, order: Order) -> bool {
        if self.size() == 0 {
            return true;
        }
        let expected = Layout::contiguous(&self.shape, itemsize, order);
        (0..self.shape.len()).all(|axis| self.shape[axis] == 1 || self.strides[axis] == expected.strides[axis])
    }

    /// The order in which this layout is contiguous, if any; `C` when both.
    pub fn order(&self, itemsize: usize) -> Option<Order> {
        [Order::C, Order::F].into_iter().find(|&order| self.is_contiguous(itemsize, order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_follow_order() {
        assert_eq!(Layout::contiguous(&[2, 3, 4], 8, Order::C).strides, [96, 32, 8]);
        assert_eq!(Layout::contiguous(&[2, 3, 4], 8, Order::F).strides, [8, 16, 48]);
        assert_eq!(Layout::contiguous(&[], 8, Order::C).size(), 1);
    }

    #[test]
    fn order_is_found_and_missing_when_strided() {
        let fortran = Layout::contiguous(&[2, 3], 4, Order::F);
        assert_eq!(fortran.order(4), Some(Order::F));
        let strided = Layout { shape: vec![3], strides: vec![8] };
        assert_eq!(strided.order(4), None);
        assert_eq!(Layout { shape: vec![1], strides: vec![8] }.order(4), Some(Order::C));
    }
}
