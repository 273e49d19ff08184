//! Compressed sparse row (CSR) matrices.

use crate::checks::{
    check_is_vector, check_result_dtype, check_stored_dtype, check_structure_arrays, check_value_dtype, check_vector,
    product_dtype,
};
use crate::kernels::THREADS;
use crate::kernels::extremes::RowExtremeSpec;
use crate::kernels::merge::{MergeSpmvSpec, MergeStage, TILE};
use crate::kernels::spmm::{CsrSpmmSpec, MAX_NARROW_COLUMNS, SPMM_TILE, SpmmKernel};
use crate::kernels::spmv::{CsrSpmvSpec, SpmvEpilogue};
use crate::launch::{are_plain, elements_ahead, full_grid, keeping, prepare_launch};
use crate::plan::SpmvPlan;
use rtcg_array::{CallKey, GpuArray, Order, PythonTuple, array_args, cached_call, push_arrays};
use rtcg_hal::tuning::{Decision, Tunable};
use rtcg_hal::{ArrayContext, ArrayError, DType, DeviceInfo, Launch, Result, tunable};
use std::sync::{Arc, OnceLock};

tunable! {
    /// How a CSR matrix is multiplied by a vector.
    pub SpmvChoice = "sparse.spmv";
    /// A matrix.
    problem SpmvProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of rows.
        rows: i64 = PowerOfTwo,
        /// Average number of stored elements per row.
        row_length: i64 = PowerOfTwo,
        /// Stored elements in the longest row; 0 if unknown.
        longest_row: i64 = PowerOfTwo,
    }
    parameters {
        /// `rows` assigns rows to groups of lanes; `merge` gives every thread the same amount of work.
        kernel: &'static str = ["rows", "merge"],
        /// Adjacent lanes per row.
        lanes: i64 = [1, 2, 4, 8, 16, 32],
    }
    device {}
    require {
        kernel == "rows" || lanes == 1;
    }
    rule spmv_rule;
}

/// As many lanes as take an average row in one turn of several elements each. One row that is much longer than the others
/// would keep a group busy when all others are done. On a SIMD CPU, whose lanes gather one after the other, one lane has a
/// row.
fn spmv_rule(problem: &SpmvProblem, device_info: &DeviceInfo) -> SpmvChoice {
    let SpmvProblem { row_length, longest_row, .. } = *problem;
    match device_info.is_simd_cpu() {
        true => SpmvChoice { kernel: "rows", lanes: 1 },
        false if is_skewed(row_length, longest_row) => SpmvChoice { kernel: "merge", lanes: 1 },
        // The power of two that is nearest to an eighth, by ratio.
        false => {
            let eighths = (row_length.cast_unsigned() * row_length.cast_unsigned() / 32).clamp(1, 1 << 11);
            SpmvChoice { kernel: "rows", lanes: 1 << (eighths.ilog2() / 2).min(5) }
        }
    }
}

/// Whether one row is so much longer than the others that a group of lanes is busy with it when all others are done.
fn is_skewed(row_length: i64, longest_row: i64) -> bool {
    longest_row > (16 * row_length).max(512)
}

tunable! {
    /// How a CSR matrix is multiplied by a dense one.
    pub SpmmChoice = "sparse.spmm";
    /// A matrix, and a dense one.
    problem SpmmProblem {
        /// Bytes per element of the dense matrix.
        itemsize: i64 = Exact,
        /// Number of rows.
        rows: i64 = PowerOfTwo,
        /// Average number of stored elements per row.
        row_length: i64 = PowerOfTwo,
        /// Number of columns of the dense matrix.
        columns: i64 = Exact,
        /// Stored elements in the longest row; 0 if unknown.
        longest_row: i64 = PowerOfTwo,
    }
    parameters {
        /// `elements` assigns the elements of a row to lanes, each with all columns; `columns` assigns the columns to
        /// lanes; `merge` does the same, with equally many elements per warp.
        kernel: &'static str = ["elements", "columns", "merge"],
        /// Adjacent lanes per row.
        lanes: i64 = [1, 2, 4, 8, 16, 32],
    }
    device {}
    require {
        kernel != "elements" || columns <= 16;
    }
    rule spmm_rule;
}

/// Lanes with elements read indices once, and rows of the dense matrix apart from each other: that is worth it for a few
/// columns, which one access of 16 bytes would hold. A SIMD CPU gathers in any case.
fn spmm_rule(problem: &SpmmProblem, device_info: &DeviceInfo) -> SpmmChoice {
    let SpmmProblem { itemsize, row_length, columns, longest_row, .. } = *problem;
    let column_lanes = columns.cast_unsigned().next_power_of_two().min(32).cast_signed();
    let half_row = row_length.cast_unsigned().div_ceil(2).next_power_of_two().clamp(2, 32).cast_signed();
    match device_info.is_simd_cpu() {
        true if columns <= MAX_NARROW_COLUMNS as i64 => SpmmChoice { kernel: "elements", lanes: 1 },
        true => SpmmChoice { kernel: "columns", lanes: 1 },
        false if is_skewed(row_length, longest_row) => SpmmChoice { kernel: "merge", lanes: column_lanes },
        false if columns * itemsize <= 16 => SpmmChoice { kernel: "elements", lanes: half_row },
        false => SpmmChoice { kernel: "columns", lanes: column_lanes },
    }
}

/// Lists the decisions that the kernels of this crate leave open.
pub fn decisions() -> Vec<&'static Decision> {
    vec![SpmvChoice::decision(), SpmmChoice::decision()]
}

/// A matrix in compressed sparse row (CSR) format: row `i` holds the elements `data[indptr[i]..indptr[i + 1]]`, in the
/// columns `indices` of the same range. Cloning shares the arrays.
#[derive(Debug, Clone)]
pub struct Csr {
    shape: [usize; 2],
    data: GpuArray,
    indices: GpuArray,
    indptr: GpuArray,
    /// Elements of the longest row; 0 where that is not known.
    longest_row: usize,
    /// The rows that tiles of the merge path begin in, from the first product along it.
    merge_starts: Arc<OnceLock<GpuArray>>,
    plan: Option<Arc<SpmvPlan>>,
}

/// A product with a vector, beside the arrays of the matrix and the vectors.
#[derive(Debug, PartialEq)]
struct ProductCall {
    shape: [usize; 2],
    longest_row: usize,
    /// 0 where the kernel is chosen by the rule.
    lanes: u8,
    accumulate: bool,
}

impl CallKey for ProductCall {
    fn hash_seed(&self) -> usize {
        self.longest_row.wrapping_mul(8) + usize::from(self.lanes) + usize::from(self.accumulate)
    }
}

impl Csr {
    /// Makes a matrix from existing arrays, which must be contiguous vectors; `indices` and `indptr` must have the same
    /// dtype, int32 or int64. The caller guarantees that indices lie within `shape` and that `indptr` ascends from 0 to
    /// the number of elements; `from_host` checks this.
    ///
    /// # Errors
    /// When dtypes or lengths do not fit.
    pub fn new(shape: [usize; 2], data: GpuArray, indices: GpuArray, indptr: GpuArray) -> Result<Self> {
        check_is_vector("data", &data)?;
        check_stored_dtype(data.dtype())?;
        check_structure_arrays(shape[0], data.size(), &indices, &indptr)?;
        Ok(Self { shape, data, indices, indptr, longest_row: 0, merge_starts: Arc::default(), plan: None })
    }

    /// Returns the matrix with the known length of its longest row, by which kernels are chosen.
    #[must_use]
    pub fn with_longest_row(self, longest_row: usize) -> Self {
        Self { longest_row, ..self }
    }

    /// Returns the matrix with `plan` for its products with vectors. A plan with a format holds a copy of the elements,
    /// which does not see later writes to the matrix.
    ///
    /// # Errors
    /// When the plan was made for another shape.
    pub fn with_plan(self, plan: impl Into<SpmvPlan>) -> Result<Self> {
        let plan = plan.into();
        plan.check(self.shape)?;
        Ok(Self { plan: Some(Arc::new(plan)), ..self })
    }

    /// The plan for products with vectors, if there is one.
    pub fn plan(&self) -> Option<&SpmvPlan> {
        self.plan.as_deref()
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Stored elements.
    pub fn nnz(&self) -> usize {
        self.data.size()
    }

    /// The stored elements.
    pub fn data(&self) -> &GpuArray {
        &self.data
    }

    /// Their column indices.
    pub fn indices(&self) -> &GpuArray {
        &self.indices
    }

    /// Where rows begin, followed by the number of elements.
    pub fn indptr(&self) -> &GpuArray {
        &self.indptr
    }

    /// The context of the arrays.
    pub fn context(&self) -> &Arc<ArrayContext> {
        self.data.context()
    }

    /// Computes `A x` in the common dtype; enqueued.
    ///
    /// # Errors
    /// When `x` is not a vector with as many elements as the matrix has columns, or the device fails.
    pub fn multiply(&self, x: &GpuArray) -> Result<GpuArray> {
        if let Some(SpmvPlan::Format(format)) = self.plan()
            && *x.shape() == self.shape[1..]
        {
            return format.multiply(x);
        }
        self.cached_product(x, None, false, || {
            let dtype = product_dtype(self.data.dtype(), x.dtype())?;
            let y = GpuArray::empty(self.context(), &[self.shape[0]], dtype, Order::C)?;
            self.plan_and_multiply(x, &y, false)?;
            Ok(y)
        })
    }

    /// The product, or the launch of one like it with these arrays.
    fn cached_product(
        &self,
        x: &GpuArray,
        out: Option<&GpuArray>,
        accumulate: bool,
        compute: impl FnOnce() -> Result<GpuArray>,
    ) -> Result<GpuArray> {
        let lanes = match self.plan() {
            None => 0,
            Some(SpmvPlan::Rows { lanes }) => *lanes,
            Some(_) => return compute(),
        };
        let call = ProductCall { shape: self.shape, longest_row: self.longest_row, lanes, accumulate };
        cached_call(self.context(), call, &[&self.data, &self.indices, &self.indptr, x], out, compute)
    }

    /// Computes `y = A x`, or `y += A x`, in the dtype of `y`; enqueued.
    ///
    /// # Errors
    /// As [`Csr::multiply`], and when `y` does not fit or shares memory with `x`.
    pub fn multiply_into(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<()> {
        let compute = || self.plan_and_multiply(x, y, accumulate).map(|()| y.clone());
        self.cached_product(x, Some(y), accumulate, compute).map(drop)
    }

    fn plan_and_multiply(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<()> {
        let [rows, columns] = self.shape;
        check_vector("x", x, columns)?;
        check_vector("y", y, rows)?;
        check_result_dtype(self.data.dtype(), x.dtype(), y.dtype())?;
        if rows == 0 {
            return Ok(());
        }
        let x = x.to_dtype(y.dtype())?.to_contiguous()?;
        if y.is_contiguous(Order::C) && !y.overlaps(&x) {
            return self.multiply_contiguous(&x, y, accumulate);
        }
        let result = if accumulate { y.copy(Some(Order::C))? } else { y.empty_like(y.dtype())? };
        self.multiply_contiguous(&x, &result, accumulate)?;
        y.assign(&result)
    }

    fn multiply_contiguous(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<()> {
        match (self.prepared_product(x, y, accumulate)?, self.plan()) {
            (Some(launches), _) => Launch::enqueue_all(&launches, x.context().queue()),
            (None, Some(SpmvPlan::Format(format))) => format.multiply_into(x, y, accumulate),
            (None, _) => Err(ArrayError::value_error("x and y are not contiguous vectors of one dtype")),
        }
    }

    /// Converts the elements to a dtype, copying them if they have another one; drops a planned format.
    ///
    /// # Errors
    /// When the device is out of memory, or elements cannot be converted.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        check_stored_dtype(dtype)?;
        Ok(Self { data: self.data.to_dtype(dtype)?, plan: None, ..self.clone() })
    }

    /// The launches of a product, where vectors are taken as they are.
    pub(crate) fn prepared_product(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Option<Vec<Launch>>> {
        if let Some(SpmvPlan::Format(format)) = self.plan() {
            return format.launches(x, y, accumulate);
        }
        if !are_plain(x, y) {
            return Ok(None);
        }
        let epilogue = if accumulate { SpmvEpilogue::Accumulate } else { SpmvEpilogue::Store };
        self.row_launches(epilogue, x, y, None).map(Some)
    }

    /// The launches of a product by the kernels of compressed rows: one, or the two of the merge path. With
    /// `(partials, state)` for the epilogue with a dot product: as many partials as [`Csr::dot_blocks`] says.
    pub(crate) fn row_launches(
        &self,
        epilogue: SpmvEpilogue,
        x: &GpuArray,
        y: &GpuArray,
        dot: Option<[&GpuArray; 2]>,
    ) -> Result<Vec<Launch>> {
        let choice = self.choice();
        if self.shape[0] == 0 {
            return Ok(Vec::new());
        }
        let blocks = dot.map_or(u32::MAX, |[partials, _]| partials.size() as u32);
        if choice.kernel == "merge" {
            return self.merge_launches(epilogue, x, y, dot, blocks);
        }
        let (value, vector, index) = (self.data.dtype(), y.dtype(), self.indices.dtype());
        let ahead = elements_ahead(self.context(), vector);
        let spec = CsrSpmvSpec { value, vector, index, lanes: choice.lanes as u8, ahead, epilogue };
        let mut args = array_args(&[y, &self.data, &self.indices, &self.indptr, x])?;
        args.push_i64(self.shape[0] as i64);
        push_arrays(&mut args, dot.as_ref().map_or(&[], |arrays| arrays.as_slice()))?;
        let blocks = self.row_blocks(spec.lanes).min(blocks);
        Ok(vec![prepare_launch(self.context(), &spec, blocks, args)?])
    }

    /// Blocks of the kernel with a dot product, at most `most`; none where another format multiplies.
    pub(crate) fn dot_blocks(&self, most: u32) -> Option<u32> {
        if self.has_planned_format() || self.shape[0] == 0 {
            return None;
        }
        let choice = self.choice();
        let blocks = match choice.kernel {
            "merge" => u32::try_from(self.merge_tiles(TILE)).unwrap_or(u32::MAX),
            _ => self.row_blocks(choice.lanes as u8),
        };
        Some(blocks.min(most))
    }

    /// Whether groups of lanes have rows, whose kernel needs no memory of its own.
    pub(crate) fn has_row_kernel(&self) -> bool {
        !self.has_planned_format() && self.choice().kernel == "rows"
    }

    /// Whether products with vectors, several of them too, are launches alone.
    pub(crate) fn is_recordable(&self) -> bool {
        self.has_row_kernel() || self.plan().is_some_and(SpmvPlan::is_recordable_format)
    }

    /// Whether products with vectors are computed in another format.
    pub(crate) fn has_planned_format(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.has_format())
    }

    fn choice(&self) -> SpmvChoice {
        match self.plan() {
            Some(SpmvPlan::Rows { lanes }) => return SpmvChoice { kernel: "rows", lanes: i64::from(*lanes) },
            Some(SpmvPlan::MergePath) => return SpmvChoice { kernel: "merge", lanes: 1 },
            _ => {}
        }
        let [itemsize, rows, longest_row] = [self.data.itemsize(), self.shape[0], self.longest_row].map(|n| n as i64);
        let row_length = self.nnz().div_ceil(self.shape[0].max(1)) as i64;
        self.context().choose(&SpmvProblem { itemsize, rows, row_length, longest_row })
    }

    fn merge_spec(&self, vector: DType, epilogue: SpmvEpilogue, tile: u32, stage: MergeStage) -> MergeSpmvSpec {
        MergeSpmvSpec { value: self.data.dtype(), vector, index: self.indices.dtype(), epilogue, tile, stage }
    }

    /// Tiles of the merge path.
    pub(crate) fn merge_tiles(&self, tile: u32) -> usize {
        (self.shape[0] + self.nnz()).div_ceil(tile as usize)
    }

    fn merge_launches(
        &self,
        epilogue: SpmvEpilogue,
        x: &GpuArray,
        y: &GpuArray,
        dot: Option<[&GpuArray; 2]>,
        max_blocks: u32,
    ) -> Result<Vec<Launch>> {
        let spec = |stage| self.merge_spec(y.dtype(), epilogue, TILE, stage);
        let [rows, elements] = [self.shape[0], self.nnz()];
        let tiles = self.merge_tiles(TILE);
        let Ok(blocks) = u32::try_from(tiles) else {
            return Err(ArrayError::value_error(format!("{elements} elements are more than a grid has tiles for")));
        };
        let starts = self.merge_starts(y.dtype())?;
        let carry_rows = GpuArray::empty(self.context(), &[tiles], self.indices.dtype(), Order::C)?;
        let carry_sums = GpuArray::empty(self.context(), &[tiles], y.dtype(), Order::C)?;
        let mut args = array_args(&[y, &self.data, &self.indices, &self.indptr, x])?;
        [rows, elements].iter().for_each(|&n| args.push_i64(n as i64));
        push_arrays(&mut args, &[&carry_rows, &carry_sums, &starts])?;
        push_arrays(&mut args, dot.as_ref().map_or(&[], |arrays| arrays.as_slice()))?;
        let first = prepare_launch(self.context(), &spec(MergeStage::Tiles), blocks.min(max_blocks), args)?;
        let second = carry_launch(&spec(MergeStage::Carries), rows, y, &carry_rows, &carry_sums)?;
        Ok(vec![first, keeping(second, &[&carry_rows, &carry_sums, &starts])])
    }

    /// The rows that tiles begin in, which are looked for once.
    fn merge_starts(&self, vector: DType) -> Result<GpuArray> {
        if let Some(starts) = self.merge_starts.get() {
            return Ok(starts.clone());
        }
        let starts = self.rows_of_tiles(vector, TILE)?;
        Ok(self.merge_starts.get_or_init(|| starts).clone())
    }

    /// The rows that tiles of the merge path begin in, and the number of rows; enqueued.
    pub(crate) fn rows_of_tiles(&self, vector: DType, tile: u32) -> Result<GpuArray> {
        let tiles = self.merge_tiles(tile);
        let starts = GpuArray::empty(self.context(), &[tiles + 1], self.indices.dtype(), Order::C)?;
        let mut args = array_args(&[&starts, &self.indptr])?;
        [self.shape[0], self.nnz()].iter().for_each(|&n| args.push_i64(n as i64));
        let blocks = (tiles + 1).div_ceil(THREADS as usize) as u32;
        let spec = self.merge_spec(vector, SpmvEpilogue::Store, tile, MergeStage::Starts);
        self.context().launch(&spec, blocks, THREADS, &args)?;
        Ok(starts)
    }

    /// Computes `A X` for a dense matrix, in C order and in the common dtype; enqueued.
    ///
    /// # Errors
    /// When `x` is not a matrix with as many rows as this one has columns, or the device fails.
    pub fn multiply_dense(&self, x: &GpuArray) -> Result<GpuArray> {
        let [rows, inner] = self.shape;
        let &[length, columns] = x.shape() else {
            let shape = PythonTuple(x.shape());
            return Err(ArrayError::value_error(format!("x has shape {shape}; expected two axes")));
        };
        if length != inner {
            let shape = PythonTuple(x.shape());
            return Err(ArrayError::value_error(format!(
                "dimension mismatch: x has shape {shape}; expected {inner} rows"
            )));
        }
        let y =
            GpuArray::empty(self.context(), &[rows, columns], product_dtype(self.data.dtype(), x.dtype())?, Order::C)?;
        self.multiply_dense_into(x, &y, false)?;
        Ok(y)
    }

    /// `Y = A X` in the dtype of `y`, which is in C order, or column by column; enqueued. Shapes fit.
    pub(crate) fn multiply_dense_into(&self, x: &GpuArray, y: &GpuArray, by_columns: bool) -> Result<()> {
        if y.size() == 0 {
            return Ok(());
        }
        let (vector, columns) = (y.dtype(), x.shape()[1]);
        let x = x.to_dtype(vector)?;
        // Recorded launches allocate no memory.
        let allocates = !by_columns || !self.is_recordable();
        let spec = CsrSpmmSpec { by_columns, ..self.dense_spec(vector, columns, allocates) };
        // Lanes with columns of their own read rows of `x`, which have to be in one piece: copying them costs less.
        let is_even = x.strides().iter().all(|stride| stride % x.itemsize() as isize == 0);
        let has_rows_in_pieces = !matches!(spec.kernel, SpmmKernel::Elements(_)) && !x.is_contiguous(Order::C);
        let x = if is_even && !(allocates && has_rows_in_pieces) { x } else { x.copy(Some(Order::C))? };
        let mut args = array_args(&[y, &self.data, &self.indices, &self.indptr, &x])?;
        [self.shape[0] as i64, columns as i64].iter().for_each(|&n| args.push_i64(n));
        x.strides().iter().for_each(|stride| args.push_i64((stride / x.itemsize() as isize) as i64));
        if spec.kernel != SpmmKernel::Tiles {
            return self.context().launch(&spec, self.row_blocks(spec.lanes), THREADS, &args);
        }
        let (tiles, starts) = (self.merge_tiles(SPMM_TILE), self.rows_of_tiles(vector, SPMM_TILE)?);
        let carry_rows = GpuArray::empty(self.context(), &[tiles], self.indices.dtype(), Order::C)?;
        let carry_sums = GpuArray::empty(self.context(), &[tiles, columns], vector, Order::C)?;
        args.push_i64(self.nnz() as i64);
        push_arrays(&mut args, &[&carry_rows, &carry_sums, &starts])?;
        let blocks = (tiles * usize::from(spec.lanes)).div_ceil(THREADS as usize) as u32;
        self.context().launch(&spec, blocks, THREADS, &args)?;
        let mut args = array_args(&[y, &carry_rows, &carry_sums])?;
        [tiles, self.shape[0], columns].iter().for_each(|&n| args.push_i64(n as i64));
        let spec = CsrSpmmSpec { kernel: SpmmKernel::Carries, ..spec };
        let blocks = (tiles * columns).div_ceil(THREADS as usize) as u32;
        self.context().launch(&spec, blocks, THREADS, &args)
    }

    /// Without the kernels that need memory of their own unless `allocates`.
    fn dense_spec(&self, vector: DType, width: usize, allocates: bool) -> CsrSpmmSpec {
        let row_length = self.nnz().div_ceil(self.shape[0].max(1));
        let [itemsize, rows, row_length, columns, longest_row] =
            [vector.itemsize(), self.shape[0], row_length, width, self.longest_row].map(|n| n as i64);
        let choice: SpmmChoice =
            self.context().choose(&SpmmProblem { itemsize, rows, row_length, columns, longest_row });
        let kernel = match choice.kernel {
            "elements" => SpmmKernel::Elements(width as u8),
            "merge" if allocates => SpmmKernel::Tiles,
            _ => SpmmKernel::Columns,
        };
        let (value, index, lanes) = (self.data.dtype(), self.indices.dtype(), choice.lanes as u8);
        // Up to eight elements of `x` under way.
        let most = elements_ahead(self.context(), vector);
        let per_lane = (width / usize::from(lanes)).clamp(1, usize::from(most.min(4))).next_power_of_two().min(4) as u8;
        let ahead = (most / per_lane).max(1);
        CsrSpmmSpec { value, vector, index, lanes, per_lane, ahead, by_columns: false, kernel }
    }

    /// Returns the largest or smallest element of each row, including zeros that are not stored, and the first column
    /// that has it; enqueued. Columns must ascend strictly in each row. With `ignores_nan`, NaN counts only if a row
    /// has nothing else.
    ///
    /// # Errors
    /// When elements are complex, there are no columns, or the device fails.
    pub fn row_extremes(&self, is_largest: bool, ignores_nan: bool) -> Result<[GpuArray; 2]> {
        let (value, index, [rows, columns]) = (self.data.dtype(), self.indices.dtype(), self.shape);
        check_value_dtype(value)?;
        if value.is_complex() || columns == 0 {
            let message = format!("a matrix of {value} and {columns} columns has no largest or least elements");
            return Err(ArrayError::value_error(message));
        }
        let new = |dtype| GpuArray::empty(self.context(), &[rows], dtype, Order::C);
        let (values, places) = (new(value)?, new(DType::I64)?);
        if rows > 0 {
            let mut args = array_args(&[&values, &places, &self.data, &self.indices, &self.indptr])?;
            [rows, columns].iter().for_each(|&n| args.push_i64(n as i64));
            let spec = RowExtremeSpec { value, index, is_largest, ignores_nan };
            self.context().launch(&spec, self.row_blocks(1), THREADS, &args)?;
        }
        Ok([values, places])
    }

    /// Blocks for a group of lanes a row.
    pub(crate) fn row_blocks(&self, lanes: u8) -> u32 {
        full_grid(self.context(), self.shape[0].saturating_mul(usize::from(lanes)))
    }
}

/// The launch that adds what tiles of the merge path have of rows that end in later ones.
pub(crate) fn carry_launch(
    spec: &MergeSpmvSpec,
    rows: usize,
    y: &GpuArray,
    carry_rows: &GpuArray,
    carry_sums: &GpuArray,
) -> Result<Launch> {
    let tiles = carry_rows.size();
    let mut args = array_args(&[y, carry_rows, carry_sums])?;
    [tiles, rows].iter().for_each(|&n| args.push_i64(n as i64));
    prepare_launch(y.context(), spec, tiles.div_ceil(THREADS as usize / 32) as u32, args)
}
