//! Sparse triangular solves: a matrix is analysed once, and can then be solved with any number of times.
//!
//! The analysis finds the level of each row, one more than the highest level of the rows that it needs, and sorts rows
//! by it. This takes about as long as a solve. A solve is one launch (`kernels/triangular.rs`), even on the virtual
//! GPU, which lets all blocks that wait for others make progress. Only one triangle of a matrix is read, so that one
//! matrix may hold both factors of an incomplete factorisation.

use crate::checks::check_vector;
use crate::csr::Csr;
use crate::kernels::THREADS;
use crate::kernels::triangular::{
    DiagonalCheck, MOST_LEVELS, RowNumber, RowNumberSpec, SINGULAR_ROW, STATE_WORDS, TriangularSpec, UNSORTED_ROW,
};
use crate::operator::LinearOperator;
use rtcg_array::{
    BoundsMode, GpuArray, Index, Op, Order, PythonTuple, Scalar, Triangle, array_args, push_arrays, push_optional,
};
use rtcg_hal::{ArrayContext, ArrayError, ArrayErrorKind, DType, KernelSpec, LaunchArgs, Result, WeakScalar};
use std::sync::Arc;

/// Words that warps share, zero before each launch, and `bytes` more.
pub(crate) fn shared_state(ctx: &Arc<ArrayContext>, bytes: usize) -> Result<GpuArray> {
    GpuArray::empty(ctx, &[STATE_WORDS + bytes.div_ceil(8)], DType::U64, Order::C)
}

/// Launches a kernel whose warps draw tickets, so many of them, where so many rows may be computed at once.
///
/// A GPU has as many warps as run at once. On a SIMD CPU a warp that waits keeps a core from the one that it waits for:
/// there is one, or one for each core where levels have many rows. Alone, a warp never waits.
pub(crate) fn launch_tickets<K: KernelSpec>(
    ctx: &ArrayContext,
    spec: &K,
    args: LaunchArgs,
    [tickets, level_rows]: [usize; 2],
) -> Result<()> {
    let device_info = ctx.device_info();
    let (threads, most) = match device_info.is_simd_cpu() {
        true => (32, (device_info.multiprocessors as usize).min(level_rows / 256)),
        // As many blocks as registers allow at once.
        false => (THREADS, device_info.resident_blocks() / 2),
    };
    let blocks = tickets.div_ceil(threads as usize / 32).min(most).max(1) as u32;
    ctx.launch(spec, blocks, threads, &args)
}

/// The first row that a kernel found fault with, from a word of the state.
pub(crate) fn fault(state: &[u64], word: usize, rows: usize) -> Option<usize> {
    (state[word] > 0).then(|| rows - state[word] as usize)
}

/// The state behind a launch; waits.
pub(crate) fn read_state(state: &GpuArray) -> Result<Vec<u64>> {
    let head = state.index(&[Index::Slice(None, Some(STATE_WORDS as isize), None)])?;
    let mut bytes = vec![0; 8 * STATE_WORDS];
    head.read(&mut bytes, Order::C)?;
    Ok(bytes.as_chunks().0.iter().map(|&chunk| u64::from_ne_bytes(chunk)).collect())
}

fn check_dtype_and_shape(matrix: &Csr) -> Result<()> {
    let ([rows, columns], dtype) = (matrix.shape(), matrix.data().dtype());
    if rows != columns {
        return Err(ArrayError::value_error(format!(
            "A must be a square matrix but its shape is ({rows}, {columns})."
        )));
    }
    if !matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
        let message = format!("A is of dtype {dtype}; expected float32, float64, complex64 or complex128");
        return Err(ArrayError::type_error(message));
    }
    Ok(())
}

/// The numbers of rows, where their elements on the other side of the diagonal begin, and the largest number; `None`
/// where columns of a row do not ascend. Waits.
fn number_rows(
    matrix: &Csr,
    number: RowNumber,
    diagonal: DiagonalCheck,
) -> Result<Option<(GpuArray, GpuArray, usize)>> {
    check_dtype_and_shape(matrix)?;
    let (ctx, rows) = (matrix.context(), matrix.shape()[0]);
    let numbers = GpuArray::zeros(ctx, &[rows], DType::I32, Order::C)?;
    let split = GpuArray::empty(ctx, &[rows], matrix.indices().dtype(), Order::C)?;
    if rows == 0 {
        return Ok(Some((numbers, split, 0)));
    }
    let state = shared_state(ctx, 0)?;
    state.memset_zero()?;
    let (value, index) = (matrix.data().dtype(), matrix.indices().dtype());
    let mut args = array_args(&[&numbers, &split, &state, matrix.data(), matrix.indices(), matrix.indptr()])?;
    args.push_i64(rows as i64);
    // Rows in their own order often need the one before them.
    launch_tickets(ctx, &RowNumberSpec { value, index, number, diagonal }, args, [rows.div_ceil(32), 1])?;
    let state = read_state(&state)?;
    if fault(&state, UNSORTED_ROW, rows).is_some() {
        return Ok(None);
    }
    if let Some(row) = fault(&state, SINGULAR_ROW, rows) {
        let message = match diagonal {
            DiagonalCheck::Stored => format!("A has no element on the diagonal in row {row}."),
            _ => format!("A is singular: zero entry on diagonal in row {row}."),
        };
        return Err(ArrayError::new(ArrayErrorKind::LinearAlgebra, message));
    }
    Ok(Some((numbers, split, state[MOST_LEVELS] as usize)))
}

/// Assigns colours to rows, from 1 on, such that no two rows with an element `(i, j)` have the same colour, and returns
/// them with their number: each row in order gets the smallest colour that its neighbours leave (greedy colouring). The
/// structure must be symmetric: elements are stored at both `(i, j)` and `(j, i)`. Returns `None` if the columns of a
/// row do not ascend. Waits.
///
/// # Errors
/// When the matrix is not square or the device fails.
pub fn colours(matrix: &Csr) -> Result<Option<(GpuArray, usize)>> {
    let found = number_rows(matrix, RowNumber::Colour, DiagonalCheck::Anything)?;
    Ok(found.map(|(colours, _, count)| (colours, count)))
}

/// Rows in the order of their levels.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    /// Where elements of each row on the other side of the diagonal begin.
    pub(crate) split: GpuArray,
    pub(crate) order: GpuArray,
    count: usize,
}

impl Levels {
    pub(crate) fn find(matrix: &Csr, triangle: Triangle, diagonal: DiagonalCheck) -> Result<Option<Self>> {
        let number = RowNumber::Level { is_lower: triangle == Triangle::Lower };
        let Some((numbers, split, count)) = number_rows(matrix, number, diagonal)? else { return Ok(None) };
        Ok(Some(Self { split, order: numbers.argsort(0, false)?, count }))
    }

    /// Rows of a level, on average.
    pub(crate) fn rows_of_one(&self) -> usize {
        self.order.size().div_ceil(self.count.max(1))
    }
}

/// A triangle of a matrix, with the order in which its rows are solved. Cloning shares the arrays, including the
/// workspace of [`LinearOperator::apply`], which only one stream may use at a time.
#[derive(Debug, Clone)]
pub struct Triangular {
    matrix: Csr,
    triangle: Triangle,
    is_unit: bool,
    levels: Levels,
    /// Which row of the right side a row has, and which of the solution it is; themselves where there is nothing.
    source: Option<GpuArray>,
    target: Option<GpuArray>,
    /// For one right side, so that [`LinearOperator::apply`] is launches alone.
    scratch: GpuArray,
}

impl Triangular {
    /// Analyses a triangle of a square matrix of float32, float64, complex64 or complex128, ignoring other elements.
    /// With `is_unit` the diagonal is ignored too and taken to be 1. Returns `None` if the columns of a row do not
    /// ascend. A solve uses the values that the matrix has at that time. Waits once.
    ///
    /// # Errors
    /// When the matrix is not square, a diagonal element is 0 or not stored (the error names its row), or the device
    /// fails.
    pub fn analyse(matrix: Csr, triangle: Triangle, is_unit: bool) -> Result<Option<Self>> {
        let diagonal = if is_unit { DiagonalCheck::Anything } else { DiagonalCheck::NonZero };
        let levels = Levels::find(&matrix, triangle, diagonal)?;
        levels.map(|levels| Self::of_levels(matrix, triangle, is_unit, levels)).transpose()
    }

    pub(crate) fn of_levels(matrix: Csr, triangle: Triangle, is_unit: bool, levels: Levels) -> Result<Self> {
        let scratch = shared_state(matrix.context(), matrix.shape()[0] * matrix.data().itemsize())?;
        Ok(Self { matrix, triangle, is_unit, levels, source: None, target: None, scratch })
    }

    /// Returns the same triangle with permutations: row `i` has the element `source[i]` of the right-hand side and the
    /// element `target[i]` of the solution. Both are int64 vectors.
    ///
    /// # Errors
    /// When they are not such vectors.
    pub fn with_permutations(self, source: Option<GpuArray>, target: Option<GpuArray>) -> Result<Self> {
        for (name, permutation) in [("source", &source), ("target", &target)] {
            let Some(permutation) = permutation else { continue };
            check_vector(name, permutation, self.matrix.shape()[0])?;
            if permutation.dtype() != DType::I64 || !permutation.is_contiguous(Order::C) {
                let message = format!("{name} is of dtype {}; expected contiguous int64", permutation.dtype());
                return Err(ArrayError::type_error(message));
            }
        }
        Ok(Self { source, target, ..self })
    }

    /// The matrix that contains the triangle.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// Number of levels: the length of the longest chain of dependent rows.
    pub fn levels(&self) -> usize {
        self.levels.count
    }

    /// Returns the transposed system, conjugated for the adjoint; waits.
    ///
    /// # Errors
    /// When the device is out of memory or fails.
    pub fn transposed(&self, conjugated: bool) -> Result<Self> {
        let triangle = if self.triangle == Triangle::Lower { Triangle::Upper } else { Triangle::Lower };
        let matrix = transposed(&self.matrix, conjugated)?;
        let Some(made) = Self::analyse(matrix, triangle, self.is_unit)? else {
            return Err(ArrayError::value_error("the transpose of A has columns that do not ascend"));
        };
        made.with_permutations(self.target.clone(), self.source.clone())
    }

    /// Solves for a vector, or for each column of a matrix; the solution has its dtype and C order; enqueued.
    ///
    /// # Errors
    /// When `b` has another dtype or number of rows, or the device fails.
    pub fn solve(&self, b: &GpuArray) -> Result<GpuArray> {
        let n = self.matrix.shape()[0];
        if !matches!(b.ndim(), 1 | 2) || b.shape()[0] != n {
            let shape = PythonTuple(b.shape());
            return Err(ArrayError::value_error(format!("b has shape {shape}; expected {n} rows")));
        }
        if b.dtype() != self.dtype() {
            let message = format!("b is of dtype {}; expected {}", b.dtype(), self.dtype());
            return Err(ArrayError::type_error(message));
        }
        let b = b.to_contiguous()?;
        let y = GpuArray::empty(b.context(), b.shape(), b.dtype(), Order::C)?;
        if y.size() > 0 {
            let columns = b.shape().get(1).copied();
            let scratch = shared_state(b.context(), y.nbytes())?;
            self.launch(&b, &y, &scratch, columns)?;
        }
        Ok(y)
    }

    fn launch(&self, b: &GpuArray, y: &GpuArray, scratch: &GpuArray, columns: Option<usize>) -> Result<()> {
        let (ctx, matrix, [rows, _]) = (b.context(), &self.matrix, self.matrix.shape());
        let (value, index) = (matrix.data().dtype(), matrix.indices().dtype());
        let (is_lower, is_unit) = (self.triangle == Triangle::Lower, self.is_unit);
        let columns = columns.filter(|&columns| columns != 1);
        let lanes = if columns.is_some() { 1 } else { self.lanes() };
        let spec = TriangularSpec { value, index, is_lower, is_unit, lanes, has_columns: columns.is_some() };
        scratch.memset_zero()?;
        let mut args = LaunchArgs::new();
        let structure = [matrix.data(), matrix.indices(), matrix.indptr(), &self.levels.split, &self.levels.order];
        push_arrays(&mut args, &[y, scratch])?;
        push_arrays(&mut args, &structure)?;
        push_arrays(&mut args, &[b])?;
        for permutation in [&self.source, &self.target] {
            push_optional(&mut args, permutation.as_ref())?;
        }
        let items = rows * columns.unwrap_or(1);
        [rows, columns.unwrap_or(1)].iter().for_each(|&n| args.push_i64(n as i64));
        let tickets = items.div_ceil(32 / usize::from(lanes));
        launch_tickets(ctx, &spec, args, [tickets, self.levels.rows_of_one()])
    }

    /// Lanes of a row. One lane a row is best where levels have enough rows for a GPU; rows of different levels in one warp
    /// would wait for each other. A lane of a SIMD CPU gathers for itself.
    fn lanes(&self) -> u8 {
        let (rows, device_info) = (self.matrix.shape()[0].max(1), self.matrix.context().device_info());
        if device_info.is_simd_cpu() {
            return 1;
        }
        let row_length = self.matrix.nnz().div_ceil(rows);
        // A tenth of the threads that run at once: of 1 to 32 lanes the fastest, within a fifth, of seven matrices on an H100.
        let busy_threads = device_info.resident_blocks() * THREADS as usize * 3 / 32;
        let lanes = busy_threads.div_ceil(self.levels.rows_of_one().max(1)).max(row_length.div_ceil(8));
        lanes.next_power_of_two().clamp(1, 32) as u8
    }
}

impl LinearOperator for Triangular {
    fn shape(&self) -> [usize; 2] {
        self.matrix.shape()
    }

    fn dtype(&self) -> DType {
        self.matrix.data().dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        let [n, _] = self.shape();
        check_vector("x", x, n)?;
        check_vector("y", y, n)?;
        if [x.dtype(), y.dtype()] != [self.dtype(); 2] {
            let message = format!("M: the triangle is of dtype {}, the vectors are of {}", self.dtype(), x.dtype());
            return Err(ArrayError::type_error(message));
        }
        if n == 0 { Ok(()) } else { self.launch(x, y, &self.scratch, None) }
    }

    fn is_recordable(&self) -> bool {
        true
    }
}

/// Transposes a matrix, with columns ascending in each row, and conjugates it on request. Enqueued.
///
/// # Errors
/// When the device is out of memory or fails.
pub fn transposed(matrix: &Csr, conjugated: bool) -> Result<Csr> {
    let ([rows, columns], ctx, index) = (matrix.shape(), matrix.context(), matrix.indices().dtype());
    let range = |n: usize| {
        let numbers = GpuArray::empty(ctx, &[n], index, Order::C)?;
        let [start, step] = [0, 1].map(|value| Scalar::Weak(WeakScalar::Int(value)));
        numbers.fill_range(start, step)?;
        Ok::<_, ArrayError>(numbers)
    };
    let order = matrix.indices().argsort(0, false)?;
    let take = |array: &GpuArray| array.take(&order, 0, BoundsMode::Wrap, None);
    // Row `i` ends behind as many elements as `indptr[i + 1]` says.
    let ends = matrix.indptr().index(&[Index::Slice(Some(1), Some(rows as isize + 1), None)])?;
    let of_rows = ends.searchsorted(&range(matrix.nnz())?, true)?.to_dtype(index)?;
    let starts = take(matrix.indices())?.searchsorted(&range(columns + 1)?, false)?.to_dtype(index)?;
    let data = take(matrix.data())?;
    let data = if conjugated && data.dtype().is_complex() { data.unary(Op::Conjugate)? } else { data };
    Csr::new([columns, rows], data, take(&of_rows)?, starts)
}
