//! Discrete Fourier transforms along an axis.
//!
//! Lengths whose prime factors have butterflies, up to 47 on a GPU and 13 on a SIMD CPU, are split into passes (`plan`);
//! others are computed by convolution with a chirp, in one pass if a block has room for it. Real data of even length is processed in pairs, as complex numbers of half the length.

mod bank_conflicts;
mod block_plan;
mod choices;
mod expressions;
mod passes;
mod plan;
mod tables;

use crate::array::GpuArray;
use crate::layout::{Order, Shape};
pub(crate) use choices::{FftLengths, FftPassChoice};
use expressions::BoundFusion;
pub use expressions::FftFusion;
use passes::{BatchLayout, BatchedFft, launch_helper_kernel, twiddle_table};
use rtcg_codegen::array::{FftHelper, FftHelperKernel, FftResult, FftSource};
use rtcg_hal::{ArrayError, DType, DTypeKind, Result};
pub use tables::{MAX_FFT_TABLE_BYTES, clear_fft_tables, fft_table_bytes};

/// The input and output of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FftKind {
    /// Complex or real numbers to equally many complex ones, with exp(-2 pi i j k / n).
    Forward,
    /// Complex or real numbers to equally many complex ones, with exp(2 pi i j k / n).
    Inverse,
    /// Real numbers to the first `n / 2 + 1` coefficients of [`FftKind::Forward`].
    RealForward,
    /// The first `n / 2 + 1` coefficients to the `n` real numbers of [`FftKind::Inverse`].
    RealInverse,
}

impl FftKind {
    /// The length of the result along the axis, for a transform of length `n`.
    pub fn result_length(self, n: usize) -> usize {
        if self == FftKind::RealForward { n / 2 + 1 } else { n }
    }
}

/// The complex dtype that elements are transformed in: of single precision for halves, too.
fn complex_dtype(dtype: DType) -> Result<DType> {
    match (dtype, dtype.kind()) {
        (DType::F16 | DType::F32 | DType::C64, _) => Ok(DType::C64),
        (DType::BF16, _) | (_, DTypeKind::Record) => Err(ArrayError::type_error(format!(
            "elements of {dtype} cannot be transformed; expected numbers or bool, but not bfloat16"
        ))),
        _ => Ok(DType::C128),
    }
}

/// The array as (outer, length, inner), what is read in bytes.
struct FftRows {
    array: GpuArray,
    outer: usize,
    inner: usize,
    length: usize,
    layout: BatchLayout,
}

impl FftRows {
    /// `array` must have at least one element; `align` is what addresses must be multiples of.
    fn new(array: &GpuArray, axis: usize, align: usize) -> Result<Self> {
        array.check_memory()?;
        let shape = array.shape();
        let (outer, inner) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
        let length = shape[axis];
        let view = array.layout().reshape(&[outer, length, inner], array.itemsize(), Order::C);
        let is_aligned = |strides: &[isize]| {
            array.first_element_address().is_multiple_of(align as u64)
                && strides.iter().all(|stride| stride % align as isize == 0)
        };
        let Some(view) = view.filter(|view| is_aligned(&view.strides)) else {
            let dense = array.copy(Some(Order::C))?;
            let layout = BatchLayout::contiguous_batch(dense.first_element_address(), length, inner, dense.itemsize());
            return Ok(Self { array: dense, outer, inner, length, layout });
        };
        let [outer_step, step, inner_step] = [view.strides[0], view.strides[1], view.strides[2]];
        let start = array.address(view.offset);
        let layout = BatchLayout { start, outer: outer_step, step, inner: inner_step, half: 0 };
        Ok(Self { array: array.clone(), outer, inner, length, layout })
    }

    /// Pairs of adjacent elements as elements.
    fn as_complex_pairs(&self) -> BatchLayout {
        BatchLayout { step: 2 * self.layout.step, half: self.layout.step, ..self.layout }
    }
}

impl GpuArray {
    /// Computes the discrete Fourier transform of length `n` along `axis`, times `scale`; does not wait.
    ///
    /// A shorter axis is padded with zeros, and a longer one truncated. Half- and single-precision input gives
    /// single-precision results, other input double precision. The root-mean-square error is about the machine epsilon
    /// times the logarithm of `n`. Twiddles are cached for later calls ([`MAX_FFT_TABLE_BYTES`]).
    ///
    /// Uses Stockham's algorithm with mixed radices, the four-step scheme of Gentleman and Sande for long transforms,
    /// and Bluestein's algorithm for lengths with a prime factor above 47 (13 on the virtual GPU).
    ///
    /// # Errors
    /// When `n` is 0, when there is no such axis, when elements are bfloat16 or records, when they are complex but must
    /// be real, and when the device is out of memory.
    pub fn fft(&self, kind: FftKind, axis: usize, n: usize, scale: f64) -> Result<GpuArray> {
        self.fft_fused(kind, axis, n, scale, None)
    }

    fn fft_fused(
        &self,
        kind: FftKind,
        axis: usize,
        n: usize,
        scale: f64,
        fusion: Option<&BoundFusion>,
    ) -> Result<GpuArray> {
        if n == 0 {
            return Err(ArrayError::value_error("Invalid number of FFT data points (0) specified."));
        }
        if axis >= self.ndim() {
            return Err(ArrayError::axis_error(axis as isize, self.ndim()));
        }
        let complex = complex_dtype(self.dtype())?;
        if kind == FftKind::RealForward && self.dtype().is_complex() {
            return Err(ArrayError::type_error(format!(
                "a real transform of elements of {}; expected real ones",
                self.dtype()
            )));
        }
        let result = if kind == FftKind::RealInverse { complex.real_part() } else { complex };
        let mut shape: Shape = self.shape().into();
        shape[axis] = kind.result_length(n);
        let out = GpuArray::empty(self.context(), &shape, result, Order::C)?;
        if out.size() == 0 {
            return Ok(out);
        }
        if self.shape()[axis] == 0 && fusion.is_some() {
            return Err(ArrayError::value_error("the axis has no elements to apply load or store to; expected some"));
        }
        if self.shape()[axis] == 0 {
            out.memset_zero()?;
            return Ok(out);
        }
        let is_complex = kind == FftKind::RealInverse || self.dtype().is_complex();
        let source = self.to_dtype(if is_complex { complex } else { complex.real_part() })?;
        let inner: usize = shape[axis + 1..].iter().product();
        // Few adjacent elements along the inner axes would be read and written in small pieces.
        if inner > 1 && inner * complex.itemsize() < 32 {
            let (axis, last) = (axis as isize, self.ndim() as isize - 1);
            let transposed = source.moveaxis(&[axis], &[last])?.copy(Some(Order::C))?;
            let transformed = transposed.fft_fused(kind, last as usize, n, scale, fusion)?;
            out.assign(&transformed.moveaxis(&[last], &[axis])?)?;
            return Ok(out);
        }
        let rows = FftRows::new(&source, axis, source.itemsize())?;
        FftTransform { rows, complex, n, scale, out: &out, fusion }.run_transform(kind)?;
        Ok(out)
    }
}

/// A transform whose result exists.
struct FftTransform<'a> {
    rows: FftRows,
    complex: DType,
    n: usize,
    scale: f64,
    out: &'a GpuArray,
    fusion: Option<&'a BoundFusion>,
}

impl FftTransform<'_> {
    fn run_transform(&self, kind: FftKind) -> Result<()> {
        // Expressions are about single elements, not about pairs.
        let is_even = self.n.is_multiple_of(2) && self.fusion.is_none();
        match kind {
            FftKind::Forward | FftKind::Inverse => self.run_complex(kind == FftKind::Inverse),
            FftKind::RealForward if is_even => self.run_real_forward(),
            FftKind::RealForward => self
                .complex_fft(FftSource::Real, FftResult::Complex, Some(self.n / 2 + 1), false)
                .enqueue_launches(self.out.context()),
            FftKind::RealInverse if is_even => self.run_real_inverse(),
            FftKind::RealInverse => {
                self.complex_fft(FftSource::Hermitian, FftResult::Real, None, true).enqueue_launches(self.out.context())
            }
        }
    }

    fn run_complex(&self, is_inverse: bool) -> Result<()> {
        let source = if self.rows.array.dtype().is_complex() { FftSource::Complex } else { FftSource::Real };
        self.complex_fft(source, FftResult::Complex, None, is_inverse).enqueue_launches(self.out.context())
    }

    /// The whole length in one complex transform.
    fn complex_fft(
        &self,
        source: FftSource,
        result: FftResult,
        out_limit: Option<usize>,
        is_inverse: bool,
    ) -> BatchedFft<'_> {
        let rows = &self.rows;
        let needed = if source == FftSource::Hermitian { self.n / 2 + 1 } else { self.n };
        let out_length = out_limit.unwrap_or(self.n);
        BatchedFft {
            dtype: self.complex,
            n: self.n,
            outer: rows.outer,
            inner: rows.inner,
            from: rows.layout,
            source,
            in_limit: (rows.length < needed).then_some(rows.length),
            to: BatchLayout::contiguous_batch(
                self.out.first_element_address(),
                out_length,
                rows.inner,
                self.out.itemsize(),
            ),
            result,
            out_limit,
            is_inverse,
            scale: self.scale,
            fusion: self.fusion,
        }
    }

    /// Real numbers, two of them as a complex one.
    fn run_real_forward(&self) -> Result<()> {
        let (rows, half, ctx) = (&self.rows, self.n / 2, self.out.context());
        let between = GpuArray::empty(ctx, &[rows.outer, half, rows.inner], self.complex, Order::C)?;
        let itemsize = self.complex.itemsize();
        let is_limited = rows.length < self.n;
        let pairs = rows.as_complex_pairs();
        // Adjacent elements in memory are read at once.
        let is_dense = !is_limited
            && pairs.half == itemsize as isize / 2
            && [pairs.start as isize, pairs.outer, pairs.inner].iter().all(|at| at % itemsize as isize == 0);
        let fft = BatchedFft {
            dtype: self.complex,
            n: half,
            outer: rows.outer,
            inner: rows.inner,
            from: pairs,
            source: if is_dense { FftSource::Complex } else { FftSource::Pair },
            in_limit: is_limited.then_some(rows.length),
            to: BatchLayout::contiguous_batch(between.first_element_address(), half, rows.inner, itemsize),
            result: FftResult::Complex,
            out_limit: None,
            is_inverse: false,
            scale: 1.0,
            fusion: None,
        };
        fft.enqueue_launches(ctx)?;
        let (twiddles, bits) = twiddle_table(ctx, self.complex, self.n)?;
        let [half_length, outer, inner] = [half, rows.outer, rows.inner].map(|n| n as u64);
        let addresses = [between.first_element_address(), self.out.first_element_address(), twiddles.device_ptr()];
        let numbers = [half_length, outer, inner, bits.into(), self.scale.to_bits()];
        let work = rows.outer * rows.inner * (half / 2 + 1);
        launch_helper_kernel(
            ctx,
            FftHelperKernel { dtype: self.complex, step: FftHelper::Untangle },
            work,
            &addresses,
            &numbers,
        )
    }

    /// The way back from [`FftTransform::run_real_forward`].
    fn run_real_inverse(&self) -> Result<()> {
        let (rows, half, ctx) = (&self.rows, self.n / 2, self.out.context());
        let between = GpuArray::empty(ctx, &[rows.outer, half, rows.inner], self.complex, Order::C)?;
        let (twiddles, bits) = twiddle_table(ctx, self.complex, self.n)?;
        let addresses = [rows.layout.start, between.first_element_address(), twiddles.device_ptr()];
        let [outer, step, inner] = [rows.layout.outer, rows.layout.step, rows.layout.inner].map(|step| step as u64);
        let lengths = [half, rows.outer, rows.inner, bits as usize].map(|n| n as u64);
        let numbers = [&lengths[..], &[outer, step, inner, rows.length as u64]].concat();
        let work = rows.outer * rows.inner * (half / 2 + 1);
        launch_helper_kernel(
            ctx,
            FftHelperKernel { dtype: self.complex, step: FftHelper::Tangle },
            work,
            &addresses,
            &numbers,
        )?;
        let itemsize = self.complex.itemsize();
        let reals = BatchLayout::contiguous_batch(self.out.first_element_address(), self.n, rows.inner, itemsize / 2);
        let fft = BatchedFft {
            dtype: self.complex,
            n: half,
            outer: rows.outer,
            inner: rows.inner,
            from: BatchLayout::contiguous_batch(between.first_element_address(), half, rows.inner, itemsize),
            source: FftSource::Complex,
            in_limit: None,
            to: BatchLayout { step: 2 * reals.step, half: reals.step, ..reals },
            result: if rows.inner == 1 { FftResult::Complex } else { FftResult::Pair },
            out_limit: None,
            is_inverse: true,
            scale: self.scale,
            fusion: None,
        };
        fft.enqueue_launches(ctx)
    }
}
