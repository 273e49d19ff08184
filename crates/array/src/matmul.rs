//! Matrix products.

mod emulation;
mod epilogue;
mod skinny;
mod split_k;
mod tiles;

use crate::array::GpuArray;
use crate::call_cache::{CallKey, cached_call};
use crate::einsum::launch_stack;
use crate::layout::{Layout, Order, PythonTuple, Shape, broadcast_shapes};
use crate::views::Index;
pub use emulation::Precision;
use epilogue::BoundEpilogue;
pub use epilogue::Epilogue;
pub(crate) use epilogue::bind_operands;
use rtcg_codegen::array::{MATMUL_BLOCK_SIDE, SimpleMatmul, matmul_accumulator_bytes};
use rtcg_hal::{ArrayContext, ArrayError, DType, DeviceInfo, LaunchArgs, Result, tunable};
pub(crate) use skinny::SkinnyChoice;
pub(crate) use split_k::SplitK;
pub(crate) use tiles::TileChoice;

/// Rows that fill so little of a tall tile that the transposed product takes less time.
const MAX_ROWS_TO_TRANSPOSE: i64 = 16;
/// Matrices of a stack, and their rows, columns and terms, for which tiles would be mostly empty.
const MIN_STACK: i64 = 256;
const MAX_STACK_SIDE: i64 = 16;

/// The options of [`GpuArray::matmul_with`].
#[derive(Debug, Clone, Copy, Default)]
pub struct MatmulOptions<'a> {
    /// What is stored of each sum; by default the sum.
    pub epilogue: Option<&'a Epilogue<'a>>,
    /// How sums are computed.
    pub precision: Precision,
}

impl GpuArray {
    /// Computes the matrix product by NumPy's rules: the last two axes are matrices, earlier ones are broadcast, and an
    /// operand of one axis is a row or a column, which the result does not have.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn matmul(&self, other: &GpuArray) -> Result<GpuArray> {
        cached_call(self.context(), MatmulCall, &[self, other], None, || {
            self.matmul_with(other, &MatmulOptions::default())
        })
    }

    /// Computes the matrix product and stores an expression of each sum, so that adding to the product or transforming
    /// it costs no further pass over memory. Does not wait.
    ///
    /// For the expression, operands of one axis are matrices of one row or column. The sum is that of [`matmul`] in the
    /// same dtype, but not rounded to 16 bits.
    ///
    /// [`matmul`]: GpuArray::matmul
    ///
    /// # Errors
    /// When shapes do not fit, an operand's name is invalid, or the expression does not compile.
    pub fn matmul_epilogue(&self, other: &GpuArray, epilogue: &Epilogue<'_>) -> Result<GpuArray> {
        self.matmul_with(other, &MatmulOptions { epilogue: Some(epilogue), ..Default::default() })
    }

    /// Computes the matrix product with an expression, a precision, or both. Does not wait.
    ///
    /// # Errors
    /// As [`matmul_epilogue`](GpuArray::matmul_epilogue).
    pub fn matmul_with(&self, other: &GpuArray, options: &MatmulOptions<'_>) -> Result<GpuArray> {
        if self.ndim() == 0 || other.ndim() == 0 {
            return Err(ArrayError::value_error(format!(
                "matmul: operands of shapes {} and {} were given; expected at least one axis each; use multiply for scalars",
                PythonTuple(self.shape()),
                PythonTuple(other.shape())
            )));
        }
        let (row, column) = (self.ndim() == 1, other.ndim() == 1);
        let a = if row { self.expand_dims(&[0])? } else { self.clone() };
        let b = if column { other.expand_dims(&[1])? } else { other.clone() };
        let product = matmul_matrices(self, other, &a, &b, options)?;
        let mut shape: Shape = product.shape().into();
        if column {
            shape.pop();
        }
        if row {
            shape.remove(shape.len() - if column { 1 } else { 2 });
        }
        product.reshape_to(&shape, Order::C)
    }
}

/// For each row of `a` (m x k), finds the column of `b` (k x n) with the least `bias[column] - 2 * product`, and the first
/// of equal ones, without storing the product: keys (uint64) whose lower halves are columns. With the squared lengths of
/// columns as `bias` (float32), these are the nearest ones. `None` if the device does not multiply such arrays by tiles:
/// it has to be a GPU of compute capability 8.0 or later, and arrays have to be float32 or 16-bit floats. Does not wait.
///
/// # Errors
/// When shapes or dtypes do not fit.
pub fn nearest_columns(a: &GpuArray, b: &GpuArray, bias: &GpuArray) -> Result<Option<GpuArray>> {
    let ([m, k], [k2, n]) = (a.shape(), b.shape()) else {
        let shapes = [a.shape(), b.shape()].map(PythonTuple);
        return Err(ArrayError::value_error(format!(
            "operands of shapes {} and {}; expected matrices",
            shapes[0], shapes[1]
        )));
    };
    let is_bias = bias.shape() == [*n] && bias.dtype() == DType::F32 && bias.is_contiguous(Order::C);
    if k != k2 || a.dtype() != b.dtype() || !is_bias || *n == 0 || *n > u32::MAX as usize {
        return Err(ArrayError::value_error(format!(
            "operands {a:?}, {b:?} and bias {bias:?}; expected m x k and k x n matrices of one dtype, and float32 of \
             shape ({n},)"
        )));
    }
    a.check_context(b)?;
    a.check_context(bias)?;
    [a, b, bias].into_iter().try_for_each(GpuArray::check_memory)?;
    let keys = GpuArray::empty(a.context(), &[*m], DType::U64, Order::C)?;
    if *m == 0 {
        return Ok(Some(keys));
    }
    keys.fill(crate::Scalar::Weak(rtcg_hal::WeakScalar::Int(u64::MAX.into())))?;
    Ok(tiles::try_launch_argmin(&keys, a, b, bias)?.then_some(keys))
}

/// Subtracts the product of two matrices of its dtype from a matrix whose rows have adjacent elements, in its own place
/// and by one kernel, if the device multiplies such matrices by tiles; whether it did. Does not wait.
pub(crate) fn try_subtract_product(matrix: &GpuArray, a: &GpuArray, b: &GpuArray) -> Result<bool> {
    let (&[m, n], Some(&k)) = (matrix.shape(), a.shape().last()) else { return Ok(false) };
    let [row, column] = [0, 1].map(|axis| matrix.strides()[axis]);
    let itemsize = matrix.itemsize() as isize;
    if column != itemsize || row < n as isize * itemsize || row % itemsize != 0 || !matrix.is_aligned() {
        return Ok(false);
    }
    let epilogue = BoundEpilogue::subtraction(matrix, [m, n, k]);
    let target = MatmulTarget { epilogue: Some(&epilogue), ..MatmulTarget::new(matrix) };
    tiles::try_launch_tiled(target, a, b, &[], [m, n, k])
}

/// A product without an expression.
#[derive(Debug, PartialEq)]
struct MatmulCall;

impl CallKey for MatmulCall {
    fn hash_seed(&self) -> usize {
        0x3a7
    }
}

/// Where a product goes.
#[derive(Clone, Copy)]
struct MatmulTarget<'a> {
    out: &'a GpuArray,
    epilogue: Option<&'a BoundEpilogue>,
    /// Of the epilogue rows are columns.
    is_transposed: bool,
}

impl<'a> MatmulTarget<'a> {
    fn new(out: &'a GpuArray) -> Self {
        Self { out, epilogue: None, is_transposed: false }
    }
}

fn matmul_matrices(
    x: &GpuArray,
    y: &GpuArray,
    a: &GpuArray,
    b: &GpuArray,
    &MatmulOptions { epilogue, precision }: &MatmulOptions<'_>,
) -> Result<GpuArray> {
    x.check_context(y)?;
    [x, y].into_iter().try_for_each(GpuArray::check_memory)?;
    let mismatch = || {
        ArrayError::value_error(format!(
            "matmul: operands of shapes {} and {} do not fit: the last axis of the first must be as long as the last \
             but one of the second, and the others must broadcast",
            PythonTuple(x.shape()),
            PythonTuple(y.shape())
        ))
    };
    let ([.., m, k], [.., k2, n]) = (a.shape(), b.shape()) else { return Err(mismatch()) };
    let (m, n, k) = (*m, *n, *k);
    let (a_batch, b_batch) = (&a.shape()[..a.ndim() - 2], &b.shape()[..b.ndim() - 2]);
    let batch = broadcast_shapes([a_batch, b_batch].into_iter()).filter(|_| k == *k2).ok_or_else(mismatch)?;
    let dtype = x.dtype().promote(y.dtype());
    if matches!(dtype, DType::Void(_)) {
        return Err(ArrayError::type_error("matmul of records is not supported"));
    }
    let (a, b) = (a.to_dtype(dtype)?, b.to_dtype(dtype)?);
    let mut shape = batch.clone();
    shape.extend_from_slice(&[m, n]);
    let epilogue = epilogue.map(|epilogue| BoundEpilogue::new(epilogue, dtype, [m, n, k], x)).transpose()?;
    let result = epilogue.as_ref().map_or(dtype, BoundEpilogue::result);
    let out = GpuArray::empty(x.context(), &shape, result, Order::C)?;
    if out.size() == 0 {
        return Ok(out);
    }
    match (k, &epilogue) {
        (0, None) => out.memset_zero()?,
        (0, Some(epilogue)) => {
            let sums = epilogue.sums_like(&out)?;
            sums.memset_zero()?;
            epilogue.apply(&out, &sums, false)?;
        }
        _ => {
            let is_emulated = precision == Precision::Emulated && emulation::can_emulate(&out, &a, &b, [m, n, k]);
            if is_emulated && try_emulate_stack(&out, epilogue.as_ref(), &a, &b, &batch)? {
                return Ok(out);
            }
            let target = MatmulTarget { epilogue: epilogue.as_ref(), ..MatmulTarget::new(&out) };
            launch_matmul(target, &a, &b, &batch, [m, n, k])?;
        }
    }
    Ok(out)
}

/// Computes each product of a stack by integers if the device can; whether it did.
fn try_emulate_stack(
    out: &GpuArray,
    epilogue: Option<&BoundEpilogue>,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
) -> Result<bool> {
    let sums = epilogue.map(|epilogue| epilogue.sums_like(out)).transpose()?;
    let stack = |array: &GpuArray| array.broadcast_to(&[batch, &array.shape()[array.ndim() - 2..]].concat());
    let (a, b, to) = (stack(a)?, stack(b)?, sums.as_ref().unwrap_or(out));
    for number in 0..batch.iter().product() {
        let mut rest = number;
        let mut indices: Vec<Index> = Vec::new();
        for &length in batch.iter().rev() {
            indices.insert(0, Index::At((rest % length) as isize));
            rest /= length;
        }
        if !emulation::try_emulate(&to.index(&indices)?, &a.index(&indices)?, &b.index(&indices)?)? {
            return Ok(false);
        }
    }
    if let (Some(epilogue), Some(sums)) = (epilogue, &sums) {
        epilogue.apply(out, sums, false)?;
    }
    Ok(true)
}

tunable! {
    /// The kernel of a matrix product.
    pub(crate) MatmulRoute = "matmul.route";
    /// A stack of products of matrices of `m` x `k` and `k` x `n` elements.
    problem MatmulProblem {
        /// The dtype of operands and result.
        dtype: DType = Exact,
        /// Products in the stack.
        batches: i64 = PowerOfTwo,
        /// Rows of the result.
        m: i64 = PowerOfTwo,
        /// Columns of the result.
        n: i64 = PowerOfTwo,
        /// Inner length of the product.
        k: i64 = PowerOfTwo,
    }
    parameters {
        /// `skinny` reads the larger operand once; `tiles` copies tiles while others are multiplied (if the device and
        /// the dtype support it, otherwise like `simple`); `simple` copies tiles, then multiplies them; `stack`
        /// multiplies several small matrices of a stack per block.
        kernel: &'static str = ["skinny", "tiles", "simple", "stack"],
        /// Whether the transposed product is computed, and transposed back.
        transposed: bool = [false, true],
    }
    device { compute_capability, execution }
    require {
        kernel != "tiles" || compute_capability >= 80 && execution == 0;
        kernel != "skinny" || !transposed;
        kernel != "stack" || !transposed && batches > 1;
    }
    rule matmul_route_rule;
}

fn matmul_route_rule(problem: &MatmulProblem, device_info: &DeviceInfo) -> MatmulRoute {
    let MatmulProblem { dtype, batches, m, n, k } = *problem;
    let kernel = if batches >= MIN_STACK && m.max(n).max(k) <= MAX_STACK_SIDE {
        "stack"
    } else if m.min(n) <= skinny::max_skinny_n(*device_info, dtype) {
        "skinny"
    } else if tiles::supports_tiles(*device_info) {
        "tiles"
    } else {
        "simple"
    };
    // Tiles are larger than such matrices.
    let is_tall = kernel != "stack"
        && tiles::prefers_tall_tiles(*device_info, dtype)
        && m <= MAX_ROWS_TO_TRANSPOSE
        && n > MAX_ROWS_TO_TRANSPOSE;
    MatmulRoute { kernel, transposed: is_tall && kernel != "skinny" }
}

tunable! {
    /// The tiles of the kernels that copy tiles, then multiply them.
    pub(crate) SimpleChoice = "matmul.simple";
    /// A stack of products of matrices of `m` x `k` and `k` x `n` elements.
    problem SimpleProblem {
        /// The dtype of operands and result.
        dtype: DType = Exact,
        /// Bytes per sum.
        sum_bytes: i64 = Exact,
        /// Products in the stack.
        batches: i64 = PowerOfTwo,
        /// Rows of the result.
        m: i64 = PowerOfTwo,
        /// Columns of the result.
        n: i64 = PowerOfTwo,
        /// Inner length of the product.
        k: i64 = PowerOfTwo,
    }
    parameters {
        /// Rows, and columns, of the result that a thread computes; a block has 16 x 16 threads.
        part: i64 = [2, 4, 8],
        /// Elements along `k` that are loaded at once.
        depth: i64 = [8, 16, 32],
        /// Unroll factor along `k`.
        unroll: i64 = [1, 2, 4, 8, 16, 32],
    }
    device {}
    require {
        unroll <= depth;
        2 * depth * (16 * part + 1) * sum_bytes <= 49152;
    }
    rule simple_rule;
}

fn simple_rule(_: &SimpleProblem, device_info: &DeviceInfo) -> SimpleChoice {
    SimpleChoice { part: 4, depth: 16, unroll: device_info.vector_bytes.into() }
}

/// The kernel that copies tiles, then multiplies them.
fn simple_kernel(ctx: &ArrayContext, dtype: DType, batches: usize, extents: [usize; 3]) -> SimpleMatmul {
    let [batches, m, n, k] = [batches, extents[0], extents[1], extents[2]].map(|length| length as i64);
    let sum_bytes = matmul_accumulator_bytes(dtype) as i64;
    let choice: SimpleChoice = ctx.choose(&SimpleProblem { dtype, sum_bytes, batches, m, n, k });
    let [part, depth, unroll] = [choice.part, choice.depth, choice.unroll].map(|number| number as u8);
    SimpleMatmul { dtype, part, depth, unroll }
}

fn launch_matmul(
    target: MatmulTarget<'_>,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    [m, n, k]: [usize; 3],
) -> Result<()> {
    let out = target.out;
    let batches: usize = batch.iter().product();
    let [of_batches, of_m, of_n, of_k] = [batches, m, n, k].map(|length| length as i64);
    let problem = MatmulProblem { dtype: a.dtype(), batches: of_batches, m: of_m, n: of_n, k: of_k };
    let route: MatmulRoute = out.context().choose(&problem);
    if route.kernel == "skinny" {
        return skinny::launch_skinny_product(target, a, b, batch, [m, n, k]);
    }
    if route.kernel == "stack" {
        return launch_stack(out, a, b);
    }
    let has_tiles = route.kernel == "tiles";
    if route.transposed {
        let mut shape = Shape::from_slice(batch);
        shape.extend_from_slice(&[n, m]);
        let transposed = GpuArray::empty(out.context(), &shape, out.dtype(), Order::C)?;
        let target = MatmulTarget { out: &transposed, is_transposed: true, ..target };
        launch_in_tiles(target, &b.swapaxes(-1, -2)?, &a.swapaxes(-1, -2)?, batch, [n, m, k], has_tiles)?;
        return out.assign(&transposed.swapaxes(-1, -2)?);
    }
    launch_in_tiles(target, a, b, batch, [m, n, k], has_tiles)
}

/// The product by tiles, perhaps by parts of the terms.
fn launch_in_tiles(
    target: MatmulTarget<'_>,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    extents: [usize; 3],
    has_tiles: bool,
) -> Result<()> {
    if split_k::try_launch_split_k(target, a, b, batch, extents, has_tiles)? {
        return Ok(());
    }
    launch_without_split_k(target, a, b, batch, extents, has_tiles)
}

/// The product by tiles, each of which has all terms.
fn launch_without_split_k(
    target: MatmulTarget<'_>,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    [m, n, k]: [usize; 3],
    has_tiles: bool,
) -> Result<()> {
    if has_tiles && tiles::try_launch_tiled(target, a, b, batch, [m, n, k])? {
        return Ok(());
    }
    let out = target.out;
    let ctx = out.context();
    let batches: usize = batch.iter().product();
    let offsets = if batches > 1 { Some(batch_offsets(out, a, b, batch, batches)?) } else { None };
    let strides = |array: &GpuArray| {
        let last = array.ndim() - 1;
        [array.strides()[last - 1] as i64, array.strides()[last] as i64]
    };
    let mut args = LaunchArgs::new();
    [out, a, b].iter().for_each(|array| args.push_address(array.first_element_address(), 0));
    [m, n, k].iter().for_each(|&n| args.push_u64(n as u64));
    strides(a).iter().chain(&strides(b)).for_each(|&stride| args.push_i64(stride));
    args.push_u64(batches as u64);
    args.push_address(offsets.as_ref().map_or(0, GpuArray::first_element_address), 0);
    let kernel = simple_kernel(ctx, a.dtype(), batches, [m, n, k]);
    let side = kernel.tile_side();
    if m.div_ceil(side) > 65535 {
        return Err(ArrayError::value_error(format!(
            "matmul: {m} rows are more than the {} that are supported",
            65535 * side
        )));
    }
    let compiled = target.compiled_kernel(ctx, kernel, &mut args, 0)?;
    ctx.queue().launch(
        &compiled,
        [n.div_ceil(side) as u32, m.div_ceil(side) as u32, batches.min(65535) as u32],
        [MATMUL_BLOCK_SIDE, MATMUL_BLOCK_SIDE, 1],
        0,
        args.view(),
    )
}

/// The axes before those of the matrices, broadcast.
fn batch_layout(array: &GpuArray, batch: &[usize]) -> Result<Layout> {
    let kept = array.ndim() - 2;
    let layout = Layout { shape: array.shape()[..kept].into(), strides: array.strides()[..kept].into(), offset: 0 };
    layout.broadcast_to(batch)
}

/// The byte offsets of both operands' matrices for every batch.
fn batch_offsets(out: &GpuArray, a: &GpuArray, b: &GpuArray, batch: &[usize], batches: usize) -> Result<GpuArray> {
    let layouts = [batch_layout(a, batch)?, batch_layout(b, batch)?];
    let mut bytes = Vec::with_capacity(batches * 16);
    for flat in 0..batches {
        for layout in &layouts {
            let (mut rest, mut offset) = (flat, 0i64);
            for axis in (0..batch.len()).rev() {
                offset += (rest % batch[axis]) as i64 * layout.strides[axis] as i64;
                rest /= batch[axis];
            }
            bytes.extend_from_slice(&offset.to_ne_bytes());
        }
    }
    let offsets = GpuArray::empty(out.context(), &[batches, 2], DType::I64, Order::C)?;
    offsets.write(&bytes, Order::C)?;
    Ok(offsets)
}
