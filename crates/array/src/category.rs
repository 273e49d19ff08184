//! Reductions by label: the values, or rows of vectors, that have the same label are combined.
//!
//! Which values are combined first depends on sizes, and on the kernel that is chosen, so the bits are the same in
//! every run. Where results fit into shared memory several times, blocks combine rows in copies of them; integers are
//! added atomically; else rows are sorted by label, or by its high digits (`category/slots.rs`).

mod slots;

use crate::array::{GpuArray, array_args, push_arrays, push_optional};
use crate::layout::{Order, PythonTuple};
use crate::scan::widened_dtype;
use crate::segments::Segments;
use crate::{Index, Scalar};
use rtcg_codegen::array::{
    BoundsMode, CATEGORY_THREADS, CategoryCombine, CategoryExpression, CategorySpec, CategoryStage, Op, RadixSpec,
    ScanOp,
};
use rtcg_hal::{ArrayError, BLOCK_THREADS, DType, DTypeKind, DeviceInfo, LaunchArgs, Result, WeakScalar, tunable};
use std::sync::Arc;

/// Blocks that combine rows in copies of results, at most; a number, so that bits do not depend on the device.
const MAX_COPY_BLOCKS: usize = 1024;
/// Rows of a block, at least.
const MIN_BLOCK_ROWS: usize = 2048;
/// Threads of a block, at most, and columns of it.
const MAX_COPY_THREADS: usize = 256;
const MAX_COPY_COLUMNS: usize = 64;
/// Shared memory of a block that leaves room for others.
const BLOCK_SHARED_BYTES: usize = 40 << 10;
/// Rows of a chunk, at least, and the most chunks of one label.
const MIN_CHUNK_ROWS: usize = 256;
const MAX_LABEL_CHUNKS: usize = 4096;
/// Labels whose atomic additions wait for each other.
const MAX_CONTENDED_LABELS: i64 = 8192;
/// Results of a thread or of the threads of a vector, or of a warp with the words of its lanes, for which there are
/// still many.
const MAX_THREAD_BYTES: i64 = 512;
const MAX_VECTOR_BYTES: i64 = 4096;
const MAX_WARP_BYTES: i64 = 16 << 10;
/// Rows from which on they are sorted for slots.
const MIN_SLOTS_ROWS: i64 = 1 << 17;

/// What [`category_reduce`] computes of the values of each label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CategoryOp {
    /// Their number, int64.
    Count,
    /// Their sum, product, maximum or minimum. A label without values has 0, 1, or the lowest or highest number.
    Reduce(ScanOp),
    /// Their mean: of integers in float64. A label without values has NaN.
    Mean,
    /// What an expression of CUDA C makes of two of them, `a` and `b`, of the type `T` of the result (float for 16-bit
    /// floats). It must be associative, and commutative unless [`CategoryOptions::is_ordered`].
    Custom {
        /// The expression.
        expression: String,
        /// An expression of the neutral element, which labels without values have.
        neutral: String,
    },
}

/// Options of [`category_reduce`].
#[derive(Debug, Clone, Copy, Default)]
pub struct CategoryOptions<'a> {
    /// The dtype of the result; by default that of a sum of NumPy, of a mean, or of the values.
    pub dtype: Option<DType>,
    /// Factors of values, one for each row: only for sums and means, whose numbers of values become sums of factors.
    pub weights: Option<&'a GpuArray>,
    /// Whether values are combined in their order, which sorts them by label.
    pub is_ordered: bool,
    /// Whether labels are known to be in range, so that nothing needs to be read back to report others.
    pub has_known_labels: bool,
}

tunable! {
    /// How values are reduced by label.
    pub(crate) CategoryChoice = "category.route";
    /// `n` rows of `columns` values, reduced to `labels` rows.
    problem CategoryProblem {
        /// Bytes per combined value.
        item_bytes: i64 = Exact,
        /// Number of rows.
        n: i64 = PowerOfTwo,
        /// Values per row.
        columns: i64 = PowerOfTwo,
        /// Number of labels.
        labels: i64 = PowerOfTwo,
        /// Whether they are sums of 64-bit integers, whose order does not matter.
        is_exact: bool = Exact,
    }
    parameters {
        /// `threads` combines in copies of the results in shared memory, one for each thread (or for the threads of a
        /// row), `warps` in one for each warp, `atomic` adds integers in global memory, `sort` sorts rows by label and
        /// combines them in order, `slots` sorts them by label, or numbers by high digits of it, and combines them in slots.
        kernel: &'static str = ["threads", "warps", "atomic", "sort", "slots"],
    }
    device { shared_bytes }
    require {
        kernel != "threads" || labels * item_bytes <= shared_bytes;
        kernel != "warps" || columns == 1 && labels * (item_bytes + 4) + 16 <= shared_bytes;
        kernel != "atomic" || is_exact;
        kernel != "slots" || n > 0 && n <= 1073741824;
    }
    rule category_rule;
}

/// As measured on an H200: a thread, or a warp, that combines values in shared memory takes its time for each, so there
/// have to be many on a multiprocessor.
fn category_rule(problem: &CategoryProblem, device_info: &DeviceInfo) -> CategoryChoice {
    let CategoryProblem { item_bytes, columns, labels, is_exact, n } = *problem;
    let (bytes, shared_bytes) = (labels * item_bytes, i64::from(device_info.shared_bytes));
    let has_slots = (MIN_SLOTS_ROWS..=RadixSpec::MAX_KEYS as i64).contains(&n);
    let fits_threads = match columns {
        ..8 => bytes <= MAX_THREAD_BYTES,
        _ if has_slots => bytes * columns <= MAX_VECTOR_BYTES,
        _ => bytes <= MAX_VECTOR_BYTES / 2,
    };
    let max_warp_bytes = if has_slots { MAX_WARP_BYTES } else { 4 * MAX_WARP_BYTES };
    // What blocks make of their rows has to be less than the rows.
    let has_rows = n >= labels;
    let kernel = if has_rows && fits_threads && bytes <= shared_bytes {
        "threads"
    } else if has_rows && columns == 1 && labels * (item_bytes + 4) + 16 <= max_warp_bytes.min(shared_bytes) {
        "warps"
    } else if is_exact && !(has_slots && columns == 1 && labels <= MAX_CONTENDED_LABELS) {
        "atomic"
    } else if has_slots {
        "slots"
    } else {
        "sort"
    };
    CategoryChoice { kernel }
}

/// Arguments that are checked.
struct Category<'a> {
    spec: CategorySpec,
    values: GpuArray,
    weights: Option<GpuArray>,
    labels: GpuArray,
    /// Edges of bins, and the number of bins over their width, or 0.
    bins: Option<(GpuArray, f64)>,
    has_known_labels: bool,
    n: usize,
    columns: usize,
    n_labels: usize,
    out: &'a GpuArray,
    /// Gets the numbers of rows, by the kernels that know them.
    numbers: Option<&'a GpuArray>,
}

/// Combines the values of each label: `values` is a vector, or has a vector in each row, and the result has a number, or a
/// vector, for each of the labels 0 to `n_labels` - 1. Does not wait.
///
/// Labels out of range are noted on the device, and their values are left out; the next operation that copies something
/// to the host reports them.
///
/// # Errors
/// When shapes do not fit, labels are not integers, or values are no numbers.
pub fn category_reduce(
    values: &GpuArray,
    labels: &GpuArray,
    n_labels: usize,
    op: &CategoryOp,
    options: CategoryOptions<'_>,
) -> Result<GpuArray> {
    reduce_by_label(values, labels, n_labels, op, options, false).map(|found| found.0)
}

/// Sums the values of each label, as [`category_reduce`], and their numbers, or their factors, in the dtype of the sums.
/// Labels have to be in range. Does not wait.
///
/// # Errors
/// As those of [`category_reduce`].
pub fn category_sums(
    values: &GpuArray,
    labels: &GpuArray,
    n_labels: usize,
    dtype: DType,
    weights: Option<&GpuArray>,
) -> Result<[GpuArray; 2]> {
    let (sum, known) =
        (CategoryOp::Reduce(ScanOp::Sum), CategoryOptions { has_known_labels: true, ..CategoryOptions::default() });
    let options = CategoryOptions { dtype: Some(dtype), weights, ..known };
    let (sums, numbers) = reduce_by_label(values, labels, n_labels, &sum, options, weights.is_none())?;
    let numbers = match (numbers, weights) {
        (Some(numbers), _) => numbers,
        (None, Some(weights)) => category_reduce(weights, labels, n_labels, &sum, known)?.to_dtype(dtype)?,
        (None, None) => category_reduce(labels, labels, n_labels, &CategoryOp::Count, known)?.to_dtype(dtype)?,
    };
    Ok([sums, numbers])
}

/// With `has_numbers` also the numbers of rows, if the kernel that is chosen knows them.
fn reduce_by_label(
    values: &GpuArray,
    labels: &GpuArray,
    n_labels: usize,
    op: &CategoryOp,
    options: CategoryOptions<'_>,
    has_numbers: bool,
) -> Result<(GpuArray, Option<GpuArray>)> {
    let combine = match op {
        CategoryOp::Mean => return Ok((mean(values, labels, n_labels, options)?, None)),
        CategoryOp::Count => CategoryCombine::Count,
        CategoryOp::Reduce(op) => CategoryCombine::Op(*op),
        CategoryOp::Custom { expression, neutral } => CategoryCombine::Custom(Arc::new(CategoryExpression {
            expression: expression.clone(),
            neutral: neutral.clone(),
        })),
    };
    check_arguments(values, labels, n_labels, op, options.weights)?;
    let dtype = options.dtype.unwrap_or(match op {
        CategoryOp::Count => DType::I64,
        CategoryOp::Reduce(op) => match options.weights {
            Some(weights) => widened_dtype(*op, values.dtype().promote(weights.dtype())),
            None => widened_dtype(*op, values.dtype()),
        },
        _ => values.dtype(),
    });
    if dtype.kind() == DTypeKind::Record {
        return Err(ArrayError::type_error(format!("dtype is {dtype}; expected one of numbers")));
    }
    let is_count = combine == CategoryCombine::Count;
    let mut shape = values.shape().to_vec();
    shape[0] = n_labels;
    if is_count {
        shape.truncate(1);
    }
    let out = GpuArray::empty(values.context(), &shape, dtype, Order::C)?;
    if out.size() == 0 {
        return Ok((out, None));
    }
    let columns = if is_count { 1 } else { values.shape().get(1).copied().unwrap_or(1) };
    let [x, label] = [values, labels].map(GpuArray::dtype);
    let x = if is_count { DType::U8 } else { x };
    let weight = options.weights.map(GpuArray::dtype);
    let numbers = has_numbers.then(|| GpuArray::empty(values.context(), &[n_labels], dtype, Order::C)).transpose()?;
    let category = Category {
        spec: CategorySpec { combine, x, weight, label, edge: None, out: dtype, stage: CategoryStage::Join },
        // Values that are counted are not read.
        values: if is_count { labels.to_contiguous()? } else { values.to_contiguous()? },
        weights: options.weights.map(GpuArray::to_contiguous).transpose()?,
        labels: labels.to_contiguous()?,
        bins: None,
        has_known_labels: options.has_known_labels,
        n: labels.size(),
        columns,
        n_labels,
        out: &out,
        numbers: numbers.as_ref(),
    };
    let has_numbers = category.compute(options.is_ordered)?;
    Ok((out, numbers.filter(|_| has_numbers)))
}

/// Counts the elements of `x` between adjacent edges (int64), or sums their weights (in the dtype of these): as
/// `numpy.histogram`, whose last bin has its right edge, too. `bins_per_unit` is the number of bins over their width if
/// they are equally wide, else 0: a hint, which does not change the result. Does not wait.
///
/// # Errors
/// When elements, edges or weights are no real numbers, there are fewer than two edges, or shapes do not fit. Edges have to
/// ascend, which is not checked.
pub fn histogram(x: &GpuArray, edges: &GpuArray, bins_per_unit: f64, weights: Option<&GpuArray>) -> Result<GpuArray> {
    x.require_real("x")?;
    edges.require_real("edges")?;
    x.check_context(edges)?;
    if edges.ndim() != 1 || edges.size() < 2 {
        let shape = PythonTuple(edges.shape());
        return Err(ArrayError::value_error(format!("edges has shape {shape}; expected at least two, in one axis")));
    }
    if let Some(weights) = weights.filter(|weights| weights.shape() != x.shape()) {
        let [shape, expected] = [weights.shape(), x.shape()].map(PythonTuple);
        return Err(ArrayError::value_error(format!("weights has shape {shape}; expected {expected}, as x")));
    }
    let n_labels = edges.size() - 1;
    let out_dtype = weights.map_or(DType::I64, GpuArray::dtype);
    let sum_dtype = weights.map_or(DType::I64, |weights| widened_dtype(ScanOp::Sum, weights.dtype()));
    let out = GpuArray::empty(x.context(), &[n_labels], sum_dtype, Order::C)?;
    let elements = x.to_contiguous()?;
    let spec = CategorySpec {
        combine: weights.map_or(CategoryCombine::Count, |_| CategoryCombine::Op(ScanOp::Sum)),
        x: weights.map_or(DType::U8, GpuArray::dtype),
        weight: None,
        label: x.dtype(),
        edge: Some(edges.dtype()),
        out: sum_dtype,
        stage: CategoryStage::Join,
    };
    let category = Category {
        spec,
        values: weights.map_or_else(|| Ok(elements.clone()), GpuArray::to_contiguous)?,
        weights: None,
        labels: elements,
        bins: Some((edges.to_contiguous()?, bins_per_unit)),
        has_known_labels: true,
        n: x.size(),
        columns: 1,
        n_labels,
        out: &out,
        numbers: None,
    };
    category.compute(false)?;
    out.to_dtype(out_dtype)
}

fn mean(values: &GpuArray, labels: &GpuArray, n_labels: usize, options: CategoryOptions<'_>) -> Result<GpuArray> {
    let dtype = options.dtype.unwrap_or(match values.dtype().kind() {
        DTypeKind::Float | DTypeKind::Complex => values.dtype(),
        _ => DType::F64,
    });
    // Sums of 16-bit floats are rounded once, after the division.
    let sum_dtype = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
    let options = CategoryOptions { dtype: Some(sum_dtype), ..options };
    let sum = CategoryOp::Reduce(ScanOp::Sum);
    let sums = category_reduce(values, labels, n_labels, &sum, options)?;
    // Labels out of range are noted once.
    let known = CategoryOptions { has_known_labels: true, ..CategoryOptions::default() };
    let numbers = match options.weights {
        None => category_reduce(labels, labels, n_labels, &CategoryOp::Count, known)?,
        Some(weights) => {
            let options = CategoryOptions { dtype: Some(sum_dtype.real_part()), ..known };
            category_reduce(weights, labels, n_labels, &sum, options)?
        }
    };
    let numbers = numbers.to_dtype(sum_dtype.real_part())?;
    let numbers = if sums.ndim() > 1 { numbers.expand_dims(&[1])? } else { numbers };
    sums.binary(Op::TrueDivide, &numbers)?.to_dtype(dtype)
}

fn check_arguments(
    values: &GpuArray,
    labels: &GpuArray,
    n_labels: usize,
    op: &CategoryOp,
    weights: Option<&GpuArray>,
) -> Result<()> {
    if !labels.dtype().is_integral() {
        return Err(ArrayError::type_error(format!("labels is of dtype {}; expected integers", labels.dtype())));
    }
    if labels.ndim() != 1 {
        let shape = PythonTuple(labels.shape());
        return Err(ArrayError::value_error(format!("labels has shape {shape}; expected one axis")));
    }
    if values.dtype().kind() == DTypeKind::Record {
        return Err(ArrayError::type_error(format!("values is of dtype {}; expected numbers", values.dtype())));
    }
    if !matches!(values.ndim(), 1 | 2) || values.shape()[0] != labels.size() {
        let (shape, n) = (PythonTuple(values.shape()), labels.size());
        return Err(ArrayError::value_error(format!(
            "values has shape {shape}; expected ({n},) or ({n}, d), as labels"
        )));
    }
    if n_labels > i32::MAX as usize {
        return Err(ArrayError::value_error(format!("n_labels is {n_labels}; expected at most {}", i32::MAX)));
    }
    values.check_context(labels)?;
    let Some(weights) = weights else { return Ok(()) };
    if *op != CategoryOp::Reduce(ScanOp::Sum) {
        return Err(ArrayError::value_error("weights are given; expected none for an op other than sum and mean"));
    }
    if weights.shape() != [labels.size()] {
        let shape = PythonTuple(weights.shape());
        return Err(ArrayError::value_error(format!("weights has shape {shape}; expected ({},)", labels.size())));
    }
    weights.require_real("weights")?;
    values.check_context(weights)
}

impl Category<'_> {
    /// Whether numbers of rows were written, too.
    fn compute(&self, is_ordered: bool) -> Result<bool> {
        let ctx = self.out.context();
        let item_bytes = CategorySpec::item_bytes(self.spec.out);
        let is_sum = matches!(self.spec.combine, CategoryCombine::Count | CategoryCombine::Op(ScanOp::Sum));
        let is_exact = is_sum && matches!(self.spec.out, DType::I64 | DType::U64);
        let [n, columns, labels] = [self.n, self.columns, self.n_labels].map(|length| length as i64);
        let problem = CategoryProblem { item_bytes: item_bytes as i64, n, columns, labels, is_exact };
        let kernel = if is_ordered { "sort" } else { ctx.choose::<CategoryChoice>(&problem).kernel };
        // Choices are made for similar sizes.
        let shared_bytes = ctx.device_info().shared_bytes as usize;
        let fits = self.n_labels * item_bytes <= shared_bytes;
        let fits_warps = self.n_labels * (item_bytes + 4) + 16 <= shared_bytes;
        match kernel {
            "threads" if fits => self.combine_in_copies(false),
            "warps" if fits_warps && self.columns == 1 => self.combine_in_copies(true),
            "atomic" if is_exact => self.add_atomically(),
            "slots" if (1..=RadixSpec::MAX_KEYS).contains(&self.n) => return self.combine_in_slots(),
            _ => self.combine_sorted(),
        }?;
        Ok(false)
    }

    fn stage(&self, stage: CategoryStage) -> CategorySpec {
        CategorySpec { stage, ..self.spec.clone() }
    }

    fn push_input(&self, args: &mut LaunchArgs) -> Result<()> {
        push_arrays(args, &[&self.values])?;
        push_optional(args, self.weights.as_ref())
    }

    fn push_labels(&self, args: &mut LaunchArgs) -> Result<()> {
        push_arrays(args, &[&self.labels])?;
        args.push_u64(self.n as u64);
        [self.columns, self.n_labels].iter().for_each(|&n| args.push_u32(n as u32));
        args.push_address(self.out.context().out_of_bounds_flag(!self.has_known_labels)?, 0);
        push_optional(args, self.bins.as_ref().map(|bins| &bins.0))?;
        args.push_u64(self.bins.as_ref().map_or(0.0, |bins| bins.1).to_bits());
        Ok(())
    }

    fn combine_in_copies(&self, is_of_warps: bool) -> Result<()> {
        let ctx = self.out.context();
        let item_bytes = CategorySpec::item_bytes(self.spec.out);
        let device_bytes = ctx.device_info().shared_bytes as usize;
        let mut width = if is_of_warps { 1 } else { self.columns.min(MAX_COPY_COLUMNS) };
        while width > 1 && self.n_labels * width * item_bytes > device_bytes {
            width = width.div_ceil(2);
        }
        let most = if is_of_warps { MAX_COPY_THREADS / 32 } else { MAX_COPY_THREADS / width };
        // Bits do not depend on the device, unless its memory is small.
        let copy_bytes = self.n_labels * width * CategorySpec::copy_bytes(self.spec.out, is_of_warps);
        let room = (BLOCK_SHARED_BYTES.min(device_bytes) - 16) / copy_bytes;
        let copies = room.clamp(1, most);
        let spec = self.stage(CategoryStage::Copies { width: width as u16, copies: copies as u16, is_of_warps });
        let rows = self.n.div_ceil(MAX_COPY_BLOCKS).max(MIN_BLOCK_ROWS).max(2 * self.n_labels);
        let blocks = self.n.div_ceil(rows).max(1);
        let item = GpuArray::empty(ctx, &[blocks * self.out.size() * item_bytes], DType::U8, Order::C)?;
        let mut args = array_args(&[&item])?;
        self.push_input(&mut args)?;
        self.push_labels(&mut args)?;
        args.push_u64(rows as u64);
        let grid = [blocks as u32, self.columns.div_ceil(width) as u32, 1];
        ctx.launch_grid(&spec, grid, [spec.threads(), 1, 1], spec.shared_bytes(self.n_labels) as u32, &args)?;

        let spec = self.stage(CategoryStage::Merge);
        let mut args = array_args(&[self.out, &item])?;
        args.push_u32(blocks as u32);
        args.push_u64(self.out.size() as u64);
        let blocks = self.out.size().div_ceil(32).min(ctx.device_info().max_blocks as usize) as u32;
        ctx.launch(&spec, blocks, spec.threads(), &args)
    }

    fn add_atomically(&self) -> Result<()> {
        let ctx = self.out.context();
        self.out.memset_zero()?;
        let mut args = array_args(&[self.out])?;
        self.push_input(&mut args)?;
        self.push_labels(&mut args)?;
        let blocks = ctx.device_info().grid_block_count(self.n * self.columns);
        ctx.launch(&self.stage(CategoryStage::Atomic), blocks, CATEGORY_THREADS, &args)
    }

    fn combine_sorted(&self) -> Result<()> {
        let ctx = self.out.context();
        let keys = GpuArray::empty(ctx, &[self.n], DType::U32, Order::C)?;
        let mut args = array_args(&[&keys])?;
        self.push_labels(&mut args)?;
        if self.n > 0 {
            let blocks = ctx.device_info().grid_block_count(self.n);
            ctx.launch(&self.stage(CategoryStage::Keys), blocks, CATEGORY_THREADS, &args)?;
        }
        let order = keys.argsort_below(self.n_labels as u64 + 1)?;
        let bounds = GpuArray::empty(ctx, &[self.n_labels + 1], DType::U32, Order::C)?;
        bounds.fill_range(Scalar::Weak(WeakScalar::Int(0)), Scalar::Weak(WeakScalar::Int(1)))?;
        let sorted = keys.take(&order, 0, BoundsMode::Clip, None)?;
        let offsets = sorted.searchsorted(&bounds, false)?;
        match &self.spec.combine {
            CategoryCombine::Op(op) if self.columns == 1 && self.weights.is_none() && self.n > 0 => {
                let values = self.values.reshape_to(&[self.n], Order::C)?.take(&order, 0, BoundsMode::Clip, None)?;
                Segments::new(&values, &offsets).reduce(*op, self.out)
            }
            _ => self.combine_chunks(&order, &offsets),
        }
    }

    /// Combines rows in the given order, in which labels begin at `offsets`.
    fn combine_chunks(&self, order: &GpuArray, offsets: &GpuArray) -> Result<()> {
        let ctx = self.out.context();
        let length = self.n.div_ceil(MAX_LABEL_CHUNKS).max(MIN_CHUNK_ROWS);
        let begins = offsets.index(&[Index::Slice(None, Some(-1), None)])?;
        let counts = offsets.index(&[Index::Slice(Some(1), None, None)])?.binary(Op::Subtract, &begins)?;
        let chunks = counts.binary(Op::Add, length as i64 - 1)?.binary(Op::FloorDivide, length as i64)?;
        let ends = chunks.cumulative(ScanOp::Sum, 0, None)?;
        let most = self.n / length + self.n_labels.min(self.n) + 1;
        let item_bytes = CategorySpec::item_bytes(self.spec.out);
        let partials = GpuArray::empty(ctx, &[most * self.columns * item_bytes], DType::U8, Order::C)?;
        let mut args = array_args(&[&partials])?;
        self.push_input(&mut args)?;
        push_arrays(&mut args, &[order, offsets, &ends])?;
        [self.columns, self.n_labels].iter().for_each(|&n| args.push_u32(n as u32));
        args.push_u64(length as u64);
        let width = self.columns.next_power_of_two().min(64);
        let spec = self.stage(CategoryStage::Chunks { width: width as u16 });
        ctx.launch(&spec, ctx.device_info().grid_block_count(most * width), CATEGORY_THREADS, &args)?;

        let mut args = array_args(&[self.out, &partials, &ends])?;
        args.push_u32(self.columns as u32);
        args.push_u64(self.out.size() as u64);
        let blocks = ctx.device_info().grid_block_count(self.out.size());
        ctx.launch(&self.stage(CategoryStage::Join), blocks, BLOCK_THREADS, &args)
    }
}
