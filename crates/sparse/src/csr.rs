//! Matrices in compressed sparse rows.

use crate::checks::{
    check_is_vector, check_result_dtype, check_stored_dtype, check_structure_arrays, check_value_dtype, check_vector,
    product_dtype,
};
use crate::kernels::THREADS;
use crate::kernels::extremes::RowExtremeSpec;
use crate::kernels::merge::{MergeSpmvSpec, MergeStage};
use crate::kernels::spmm::{CsrSpmmSpec, MAX_NARROW_COLUMNS};
use crate::kernels::spmv::{CsrSpmvSpec, SpmvEpilogue};
use crate::launch::{PreparedLaunch, are_plain, push_arrays};
use crate::plan::SpmvPlan;
use crate::{ArrayContext, ArrayError, GpuArray, Result};
use rtcg_array::{DType, DeviceInfo, Order, PackedKernelArgs, PythonTuple};
use rtcg_codegen::tunable;
use rtcg_codegen::tuning::{Decision, Tunable};
use std::sync::Arc;

tunable! {
    /// How a matrix in compressed sparse rows is multiplied by a vector.
    pub SpmvChoice = "sparse.spmv";
    /// A matrix.
    problem SpmvProblem {
        /// Bytes of an element.
        itemsize: i64 = Exact,
        /// Rows.
        rows: i64 = PowerOfTwo,
        /// Stored elements of a row, on average.
        row_length: i64 = PowerOfTwo,
        /// Stored elements of the longest row; 0 where that is not known.
        longest_row: i64 = PowerOfTwo,
    }
    parameters {
        /// `rows` gives rows to groups of lanes, `merge` gives each thread as much as every other one.
        kernel: &'static str = ["rows", "merge"],
        /// Adjacent lanes of a row.
        lanes: i64 = [1, 2, 4, 8, 16, 32],
    }
    device {}
    require {
        kernel == "rows" || lanes == 1;
    }
    rule spmv_rule;
}

/// Half of the average row, so that most rows take two turns. One row that is much longer than the others would keep a
/// group busy when all others are done. On a SIMD CPU, whose lanes gather one after the other, one lane has a row.
fn spmv_rule(problem: &SpmvProblem, device_info: &DeviceInfo) -> SpmvChoice {
    let SpmvProblem { row_length, longest_row, .. } = *problem;
    let lanes = row_length.cast_unsigned().div_ceil(2).next_power_of_two().clamp(2, 32).cast_signed();
    match device_info.is_simd_cpu() {
        true => SpmvChoice { kernel: "rows", lanes: 1 },
        false if longest_row > (32 * row_length).max(2048) => SpmvChoice { kernel: "merge", lanes: 1 },
        false => SpmvChoice { kernel: "rows", lanes },
    }
}

tunable! {
    /// How a matrix in compressed sparse rows is multiplied by a dense one.
    pub SpmmChoice = "sparse.spmm";
    /// A matrix, and a dense one.
    problem SpmmProblem {
        /// Bytes of an element of the dense matrix.
        itemsize: i64 = Exact,
        /// Rows.
        rows: i64 = PowerOfTwo,
        /// Stored elements of a row, on average.
        row_length: i64 = PowerOfTwo,
        /// Columns of the dense matrix.
        columns: i64 = Exact,
    }
    parameters {
        /// `elements` gives the elements of a row to lanes, each with all columns; `columns` gives the columns to lanes.
        kernel: &'static str = ["elements", "columns"],
        /// Adjacent lanes of a row.
        lanes: i64 = [1, 2, 4, 8, 16, 32],
    }
    device {}
    require {
        kernel == "columns" || columns <= 16;
    }
    rule spmm_rule;
}

/// Lanes with elements read indices once, and rows of the dense matrix apart from each other: that is worth it for a few
/// columns, which one access of 16 bytes would hold. A SIMD CPU gathers in any case.
fn spmm_rule(problem: &SpmmProblem, device_info: &DeviceInfo) -> SpmmChoice {
    let SpmmProblem { itemsize, row_length, columns, .. } = *problem;
    let half_row = row_length.cast_unsigned().div_ceil(2).next_power_of_two().clamp(2, 32).cast_signed();
    match device_info.is_simd_cpu() {
        true if columns <= MAX_NARROW_COLUMNS as i64 => SpmmChoice { kernel: "elements", lanes: 1 },
        true => SpmmChoice { kernel: "columns", lanes: 1 },
        false if columns * itemsize <= 16 => SpmmChoice { kernel: "elements", lanes: half_row },
        false => {
            let lanes = columns.cast_unsigned().next_power_of_two().min(32).cast_signed();
            SpmmChoice { kernel: "columns", lanes }
        }
    }
}

/// The decisions that kernels of this crate leave open.
pub fn decisions() -> Vec<&'static Decision> {
    vec![SpmvChoice::decision(), SpmmChoice::decision()]
}

/// A matrix in compressed sparse rows: row `i` has the elements `indptr[i]..indptr[i + 1]` of `data`, in the columns
/// that `indices` names. Cloning shares the arrays.
#[derive(Debug, Clone)]
pub struct Csr {
    shape: [usize; 2],
    data: GpuArray,
    indices: GpuArray,
    indptr: GpuArray,
    /// Elements of the longest row; 0 where that is not known.
    longest_row: usize,
    plan: Option<Arc<SpmvPlan>>,
}

impl Csr {
    /// A matrix of arrays that exist. They are contiguous vectors; `indices` and `indptr` have one dtype, int32 or
    /// int64. That indices lie within `shape` and that `indptr` ascends from 0 to the number of elements is the caller's
    /// promise: `from_host` checks it.
    ///
    /// # Errors
    /// When dtypes or lengths do not fit.
    pub fn new(shape: [usize; 2], data: GpuArray, indices: GpuArray, indptr: GpuArray) -> Result<Self> {
        check_is_vector("data", &data)?;
        check_stored_dtype(data.dtype())?;
        check_structure_arrays(shape[0], data.size(), &indices, &indptr)?;
        Ok(Self { shape, data, indices, indptr, longest_row: 0, plan: None })
    }

    /// The same matrix, whose longest row is known to have so many elements: kernels are chosen by that.
    #[must_use]
    pub fn with_longest_row(self, longest_row: usize) -> Self {
        Self { longest_row, ..self }
    }

    /// The same matrix, whose products with vectors follow `plan`; one with a format has a copy of the elements, which does
    /// not see what is written to those of the matrix later.
    ///
    /// # Errors
    /// When the plan is one for another shape.
    pub fn with_plan(self, plan: impl Into<SpmvPlan>) -> Result<Self> {
        let plan = plan.into();
        plan.check(self.shape)?;
        Ok(Self { plan: Some(Arc::new(plan)), ..self })
    }

    /// How products with vectors are computed, where that was planned.
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

    /// Their columns.
    pub fn indices(&self) -> &GpuArray {
        &self.indices
    }

    /// Where rows begin, and the number of elements.
    pub fn indptr(&self) -> &GpuArray {
        &self.indptr
    }

    /// The context of the arrays.
    pub fn context(&self) -> &Arc<ArrayContext> {
        self.data.context()
    }

    /// `A x` in the dtype that both promote to; enqueued.
    ///
    /// # Errors
    /// When `x` is no vector of as many elements as the matrix has columns, or the device fails.
    pub fn multiply(&self, x: &GpuArray) -> Result<GpuArray> {
        let dtype = product_dtype(self.data.dtype(), x.dtype())?;
        let y = GpuArray::empty(self.context(), &[self.shape[0]], dtype, Order::C)?;
        self.multiply_into(x, &y, false)?;
        Ok(y)
    }

    /// `y = A x`, or `y += A x`, in the dtype of `y`; enqueued.
    ///
    /// # Errors
    /// As [`Csr::multiply`], and when `y` does not fit or shares memory with `x`.
    pub fn multiply_into(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<()> {
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
            (Some(launches), _) => launches.iter().try_for_each(PreparedLaunch::launch),
            (None, Some(SpmvPlan::Format(format))) => format.multiply_into(x, y, accumulate),
            (None, _) => Err(ArrayError::value_error("x and y are not contiguous vectors of one dtype")),
        }
    }

    /// The matrix with elements of a dtype, in arrays of its own where they have another one; a planned format is left.
    ///
    /// # Errors
    /// When the device is out of memory, or elements cannot have that dtype.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        check_stored_dtype(dtype)?;
        Ok(Self { data: self.data.to_dtype(dtype)?, plan: None, ..self.clone() })
    }

    /// The launches of a product, where vectors are taken as they are.
    pub(crate) fn prepared_product(
        &self,
        x: &GpuArray,
        y: &GpuArray,
        accumulate: bool,
    ) -> Result<Option<Vec<PreparedLaunch>>> {
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
    ) -> Result<Vec<PreparedLaunch>> {
        let choice = self.choice();
        if self.shape[0] == 0 {
            return Ok(Vec::new());
        }
        let blocks = dot.map_or(u32::MAX, |[partials, _]| partials.size() as u32);
        if choice.kernel == "merge" {
            return self.merge_launches(epilogue, x, y, dot, blocks);
        }
        let (value, vector, index) = (self.data.dtype(), y.dtype(), self.indices.dtype());
        let spec = CsrSpmvSpec { value, vector, index, lanes: choice.lanes as u8, epilogue };
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[y, &self.data, &self.indices, &self.indptr, x])?;
        args.push_i64(self.shape[0] as i64);
        push_arrays(&mut args, dot.as_ref().map_or(&[], |arrays| arrays.as_slice()))?;
        let blocks = self.row_blocks(spec.lanes).min(blocks);
        Ok(vec![PreparedLaunch::new(self.context(), &spec, blocks, args)?])
    }

    /// Blocks of the kernel with a dot product, at most `most`; none where another format multiplies.
    pub(crate) fn dot_blocks(&self, vector: DType, most: u32) -> Option<u32> {
        if self.has_planned_format() || self.shape[0] == 0 {
            return None;
        }
        let choice = self.choice();
        let blocks = match choice.kernel {
            "merge" => u32::try_from(self.merge_tiles(vector)).unwrap_or(u32::MAX),
            _ => self.row_blocks(choice.lanes as u8),
        };
        Some(blocks.min(most))
    }

    /// Whether groups of lanes have rows, whose kernel needs no memory of its own.
    pub(crate) fn has_row_kernel(&self) -> bool {
        !self.has_planned_format() && self.choice().kernel == "rows"
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

    fn merge_spec(&self, vector: DType, epilogue: SpmvEpilogue, stage: MergeStage) -> MergeSpmvSpec {
        MergeSpmvSpec { value: self.data.dtype(), vector, index: self.indices.dtype(), epilogue, stage }
    }

    fn merge_tiles(&self, vector: DType) -> usize {
        let spec = self.merge_spec(vector, SpmvEpilogue::Store, MergeStage::Tiles);
        (self.shape[0] + self.nnz()).div_ceil(spec.tile_items())
    }

    fn merge_launches(
        &self,
        epilogue: SpmvEpilogue,
        x: &GpuArray,
        y: &GpuArray,
        dot: Option<[&GpuArray; 2]>,
        max_blocks: u32,
    ) -> Result<Vec<PreparedLaunch>> {
        let spec = |stage| self.merge_spec(y.dtype(), epilogue, stage);
        let [rows, elements] = [self.shape[0], self.nnz()];
        let tiles = self.merge_tiles(y.dtype());
        let Ok(blocks) = u32::try_from(tiles) else {
            return Err(ArrayError::value_error(format!("{elements} elements are more than a grid has tiles for")));
        };
        let carry_rows = GpuArray::empty(self.context(), &[tiles], DType::I64, Order::C)?;
        let carry_sums = GpuArray::empty(self.context(), &[tiles], y.dtype(), Order::C)?;
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[y, &self.data, &self.indices, &self.indptr, x])?;
        [rows, elements].iter().for_each(|&n| args.push_i64(n as i64));
        push_arrays(&mut args, &[&carry_rows, &carry_sums])?;
        push_arrays(&mut args, dot.as_ref().map_or(&[], |arrays| arrays.as_slice()))?;
        let first = PreparedLaunch::new(self.context(), &spec(MergeStage::Tiles), blocks.min(max_blocks), args)?;
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[y, &carry_rows, &carry_sums])?;
        [tiles, rows].iter().for_each(|&n| args.push_i64(n as i64));
        let blocks = blocks.div_ceil(THREADS / 32);
        let second = PreparedLaunch::new(self.context(), &spec(MergeStage::Carries), blocks, args)?;
        Ok(vec![first, second.keeping([carry_rows, carry_sums])])
    }

    /// `A X` for a dense matrix, in C order and in the dtype that both promote to; enqueued.
    ///
    /// # Errors
    /// When `x` is no matrix of as many rows as this one has columns, or the device fails.
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
        let x = if x.strides().iter().all(|stride| stride % x.itemsize() as isize == 0) { x } else { x.copy(None)? };
        let spec = CsrSpmmSpec { by_columns, ..self.dense_spec(vector, columns) };
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[y, &self.data, &self.indices, &self.indptr, &x])?;
        [self.shape[0] as i64, columns as i64].iter().for_each(|&n| args.push_i64(n));
        x.strides().iter().for_each(|stride| args.push_i64((stride / x.itemsize() as isize) as i64));
        PreparedLaunch::new(self.context(), &spec, self.row_blocks(spec.lanes), args)?.launch()
    }

    fn dense_spec(&self, vector: DType, columns: usize) -> CsrSpmmSpec {
        let row_length = self.nnz().div_ceil(self.shape[0].max(1));
        let [itemsize, rows, row_length, width] =
            [vector.itemsize(), self.shape[0], row_length, columns].map(|n| n as i64);
        let choice: SpmmChoice = self.context().choose(&SpmmProblem { itemsize, rows, row_length, columns: width });
        CsrSpmmSpec {
            value: self.data.dtype(),
            vector,
            index: self.indices.dtype(),
            lanes: choice.lanes as u8,
            narrow: if choice.kernel == "elements" { columns as u8 } else { 0 },
            by_columns: false,
        }
    }

    /// The largest or least element of each row, zeros that are not stored among them, and the first column that has it;
    /// enqueued. Columns ascend in each row, and none is twice there. `ignores_nan` says whether NaN counts only where
    /// there is nothing else.
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
            let mut args = PackedKernelArgs::new();
            push_arrays(&mut args, &[&values, &places, &self.data, &self.indices, &self.indptr])?;
            [rows, columns].iter().for_each(|&n| args.push_i64(n as i64));
            let spec = RowExtremeSpec { value, index, is_largest, ignores_nan };
            PreparedLaunch::new(self.context(), &spec, self.row_blocks(1), args)?.launch()?;
        }
        Ok([values, places])
    }

    /// Blocks for a group of lanes a row. A GPU balances blocks that end early by itself; on a SIMD CPU each costs.
    pub(crate) fn row_blocks(&self, lanes: u8) -> u32 {
        let device_info = self.context().device_info();
        let most = if device_info.is_simd_cpu() { device_info.max_blocks } else { i32::MAX.cast_unsigned() };
        self.shape[0].div_ceil(THREADS as usize / usize::from(lanes)).clamp(1, most as usize) as u32
    }
}
