//! Matrix structures on the host: checks with SciPy's messages, and sorting of triples by row.

use rtcg_hal::{ArrayError, Result};

/// An index type.
pub trait IndexElement: Copy {
    /// Converts to a signed number.
    fn to_i64(self) -> i64;
}

impl IndexElement for i32 {
    fn to_i64(self) -> i64 {
        self.into()
    }
}

impl IndexElement for i64 {
    fn to_i64(self) -> i64 {
        self
    }
}

/// Checks that `indptr` ascends from 0 to at most the number of `indices`, and that each index is a valid column.
///
/// # Errors
/// When they do not.
pub fn check_structure<I: IndexElement>(shape: [usize; 2], indices: &[I], indptr: &[I]) -> Result<()> {
    let error = |message: String| Err(ArrayError::value_error(message));
    let [rows, columns] = shape;
    if indptr.len() != rows + 1 {
        return error(format!("index pointer size {} should be {}", indptr.len(), rows + 1));
    }
    if indptr[0].to_i64() != 0 {
        return error("index pointer should start with 0".to_owned());
    }
    if indptr[rows].to_i64() > indices.len() as i64 {
        return error("Last value of index pointer should be less than the size of index and data arrays".to_owned());
    }
    // Kernels step over the end of a row by less than a warp.
    if size_of::<I>() == 4 && indptr[rows].to_i64() > i64::from(i32::MAX) - 256 {
        return error(format!("{} elements need int64 indices", indptr[rows].to_i64()));
    }
    if indptr.windows(2).any(|pair| pair[0].to_i64() > pair[1].to_i64()) {
        return error("indptr must be a non-decreasing sequence".to_owned());
    }
    if indices.iter().any(|index| index.to_i64() >= columns as i64) {
        return error(format!("indices must be < {columns}"));
    }
    if indices.iter().any(|index| index.to_i64() < 0) {
        return error("indices must be >= 0".to_owned());
    }
    Ok(())
}

/// Returns where rows begin, and the permutation that sorts triples by row; triples of a row keep their order.
///
/// # Errors
/// When an index is not a valid row.
pub fn order_by_row<I: IndexElement>(rows: usize, row_indices: &[I]) -> Result<(Vec<usize>, Vec<usize>)> {
    let mut starts = vec![0usize; rows + 1];
    for row in row_indices {
        let row = row.to_i64();
        if row < 0 {
            return Err(ArrayError::value_error("negative axis 0 index: ".to_owned() + &row.to_string()));
        }
        if row >= rows as i64 {
            return Err(ArrayError::value_error(format!("axis 0 index {row} exceeds matrix dimension {rows}")));
        }
        starts[row as usize + 1] += 1;
    }
    (0..rows).for_each(|row| starts[row + 1] += starts[row]);
    let mut next = starts.clone();
    let mut order = vec![0usize; row_indices.len()];
    for (k, row) in row_indices.iter().enumerate() {
        let place = &mut next[row.to_i64() as usize];
        order[*place] = k;
        *place += 1;
    }
    Ok((starts, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_structures_are_refused_in_scipys_words() {
        let message = |shape, indices: &[i32], indptr: &[i32]| {
            check_structure(shape, indices, indptr).err().map(|error| error.to_string())
        };
        assert_eq!(message([2, 3], &[0, 2], &[0, 1, 2]), None);
        assert_eq!(message([2, 3], &[0, 3], &[0, 1, 2]).as_deref(), Some("indices must be < 3"));
        assert_eq!(message([2, 3], &[0, -1], &[0, 1, 2]).as_deref(), Some("indices must be >= 0"));
        assert_eq!(message([2, 3], &[0, 1], &[0, 2, 1]).as_deref(), Some("indptr must be a non-decreasing sequence"));
        assert_eq!(message([2, 3], &[0, 1], &[1, 2, 2]).as_deref(), Some("index pointer should start with 0"));
        assert_eq!(message([2, 3], &[0], &[0, 1]).as_deref(), Some("index pointer size 2 should be 3"));
        assert!(message([2, 3], &[0], &[0, 1, 2]).is_some());
    }

    #[test]
    fn triples_keep_their_order_within_a_row() {
        let (starts, order) = order_by_row(3, &[2i64, 0, 2, 0]).unwrap();
        assert_eq!(starts, [0, 2, 2, 4]);
        assert_eq!(order, [1, 3, 0, 2]);
        assert!(order_by_row(3, &[3i32]).is_err());
    }
}
