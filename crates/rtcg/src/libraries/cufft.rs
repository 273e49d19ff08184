//! cuFFT for arrays: plans of transforms without factors.
//!
//! ```no_run
//! use rtcg::cufft::{Plan, PlanRequest};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let x = ArrayFactory::new(&ctx)?.from_slice(&[1.0f32; 8])?;
//! let plan = Plan::new(&ctx, &PlanRequest::contiguous(&[8], "R2C".parse()?))?;
//! assert_eq!(plan.execute(x.as_dyn(), None, false)?.shape(), [5]);
//! # Ok(())
//! # }
//! ```

use super::{call_library, check_contexts, current_stream_handle, workspace};
use crate::{Error, Result};
use rtcg_array::{GpuArray, Order};
use rtcg_driver::libraries::{Library, LibraryError, ReleaseInContext};
use rtcg_driver::sys::cufft::{CUFFT_FORWARD, CUFFT_INVERSE, CufftTable, cufftHandle};
use rtcg_driver::sys::libraries::cudaDataType;
use rtcg_driver::{Context, lock_ignoring_poison};
use rtcg_hal::DType;
use std::sync::Mutex;

const LIBRARY: Library = Library::Cufft;

/// What a transform takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransformTypes {
    /// The type of input elements.
    pub input: cudaDataType,
    /// The type of output elements.
    pub output: cudaDataType,
}

impl std::str::FromStr for TransformTypes {
    type Err = Error;

    /// By cuFFT's names, and those of 16-bit transforms: real (`H` half, `B` bfloat16) or complex (`HC`, `BC`) to the
    /// other.
    fn from_str(name: &str) -> Result<Self> {
        let (input, output) = match name {
            "C2C" => (cudaDataType::CUDA_C_32F, cudaDataType::CUDA_C_32F),
            "R2C" => (cudaDataType::CUDA_R_32F, cudaDataType::CUDA_C_32F),
            "C2R" => (cudaDataType::CUDA_C_32F, cudaDataType::CUDA_R_32F),
            "Z2Z" => (cudaDataType::CUDA_C_64F, cudaDataType::CUDA_C_64F),
            "D2Z" => (cudaDataType::CUDA_R_64F, cudaDataType::CUDA_C_64F),
            "Z2D" => (cudaDataType::CUDA_C_64F, cudaDataType::CUDA_R_64F),
            "HC2HC" => (cudaDataType::CUDA_C_16F, cudaDataType::CUDA_C_16F),
            "H2HC" => (cudaDataType::CUDA_R_16F, cudaDataType::CUDA_C_16F),
            "HC2H" => (cudaDataType::CUDA_C_16F, cudaDataType::CUDA_R_16F),
            "BC2BC" => (cudaDataType::CUDA_C_16BF, cudaDataType::CUDA_C_16BF),
            "B2BC" => (cudaDataType::CUDA_R_16BF, cudaDataType::CUDA_C_16BF),
            "BC2B" => (cudaDataType::CUDA_C_16BF, cudaDataType::CUDA_R_16BF),
            _ => {
                return Err(Error::value_error(format!(
                    "kind is '{name}'; expected 'C2C', 'R2C', 'C2R', 'Z2Z', 'D2Z', 'Z2D', or of 16-bit numbers 'HC2HC', \
                     'H2HC', 'HC2H', 'BC2BC', 'B2BC', 'BC2B'"
                )));
            }
        };
        Ok(Self { input, output })
    }
}

impl TransformTypes {
    fn execution(self) -> cudaDataType {
        if is_complex(self.input) { self.input } else { self.output }
    }
}

fn is_complex(kind: cudaDataType) -> bool {
    use cudaDataType as T;
    [T::CUDA_C_16F, T::CUDA_C_16BF, T::CUDA_C_32F, T::CUDA_C_64F].contains(&kind)
}

/// The dtype of arrays of a type, and how many of their elements are one of it: complex numbers of 16 bits are pairs.
fn array_type(kind: cudaDataType) -> (DType, usize) {
    match kind {
        cudaDataType::CUDA_R_16F => (DType::F16, 1),
        cudaDataType::CUDA_C_16F => (DType::F16, 2),
        cudaDataType::CUDA_R_16BF => (DType::BF16, 1),
        cudaDataType::CUDA_C_16BF => (DType::BF16, 2),
        cudaDataType::CUDA_R_32F => (DType::F32, 1),
        cudaDataType::CUDA_R_64F => (DType::F64, 1),
        cudaDataType::CUDA_C_32F => (DType::C64, 1),
        _ => (DType::C128, 1),
    }
}

/// How elements lie: cuFFT's advanced data layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Embedding {
    /// The lengths of the array that holds one transform.
    pub lengths: Vec<i64>,
    /// Elements from one to the next along the last axis.
    pub stride: i64,
    /// Elements from one transform to the next.
    pub distance: i64,
}

/// What a plan is made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanRequest {
    /// The lengths of the transform, along 1 to 3 axes.
    pub lengths: Vec<i64>,
    /// What it takes and gives.
    pub types: TransformTypes,
    /// The number of transforms.
    pub batch: i64,
    /// How input and output lie; without it one after the other.
    pub layout: Option<[Embedding; 2]>,
}

impl PlanRequest {
    /// One transform of adjacent elements.
    pub fn contiguous(lengths: &[i64], types: TransformTypes) -> Self {
        Self { lengths: lengths.to_vec(), types, batch: 1, layout: None }
    }

    fn check(&self) -> Result<()> {
        let lengths = &self.lengths;
        if lengths.is_empty() || lengths.len() > 3 {
            return Err(Error::value_error(format!("shape is {lengths:?}; expected 1 to 3 lengths")));
        }
        if let Some(n) = lengths.iter().find(|n| **n < 1) {
            return Err(Error::value_error(format!("shape is {lengths:?}; expected lengths of 1 or more, not {n}")));
        }
        if self.batch < 1 {
            return Err(Error::value_error(format!("batch is {}; expected 1 or more", self.batch)));
        }
        for (name, embedding) in ["inembed", "onembed"].iter().zip(self.layout.iter().flatten()) {
            let is_empty = embedding.lengths.iter().any(|n| *n < 1);
            if embedding.lengths.len() != lengths.len() || is_empty || embedding.stride < 1 || embedding.distance < 0 {
                let Embedding { lengths: embed, stride, distance } = embedding;
                return Err(Error::value_error(format!(
                    "{name} is {embed:?} with the stride {stride} and the distance {distance}; expected {} lengths of 1 or more, a \
                     stride of 1 or more, and a distance of 0 or more",
                    lengths.len()
                )));
            }
        }
        Ok(())
    }

    /// Lengths of the input (0) or the output (1): along the last axis, the complex side of a real transform has about
    /// half.
    fn side_lengths(&self, side: usize) -> Vec<i64> {
        let (own, other) =
            if side == 0 { (self.types.input, self.types.output) } else { (self.types.output, self.types.input) };
        let mut lengths = self.lengths.clone();
        if is_complex(own)
            && !is_complex(other)
            && let Some(last) = lengths.last_mut()
        {
            *last = *last / 2 + 1;
        }
        lengths
    }

    /// The elements of the memory that a side takes; rows of real elements are padded in place.
    fn side_extent(&self, side: usize, in_place: bool) -> i64 {
        let lengths = self.side_lengths(side);
        let Some(layout) = &self.layout else {
            let kind = if side == 0 { self.types.input } else { self.types.output };
            let mut lengths = lengths;
            if in_place
                && !is_complex(kind)
                && let Some(last) = lengths.last_mut()
            {
                *last = 2 * (*last / 2 + 1);
            }
            return lengths.iter().fold(self.batch, |product, n| product.saturating_mul(*n));
        };
        let Embedding { lengths: embed, stride, distance } = &layout[side];
        let (mut last, mut step) = (0i64, *stride);
        for (axis, n) in lengths.iter().enumerate().rev() {
            last = last.saturating_add((n - 1).saturating_mul(step));
            step = step.saturating_mul(embed[axis]);
        }
        last.saturating_add((self.batch - 1).saturating_mul(*distance)).saturating_add(1)
    }

    /// The shape of a new output: the transforms one after the other.
    fn output_shape(&self) -> Vec<usize> {
        let (_, parts) = array_type(self.types.output);
        let mut shape: Vec<usize> = if self.layout.is_some() {
            vec![self.side_extent(1, false) as usize]
        } else {
            let batch = (self.batch > 1).then_some(self.batch);
            batch.into_iter().chain(self.side_lengths(1)).map(|n| n as usize).collect()
        };
        if parts == 2 {
            shape.push(2);
        }
        shape
    }
}

/// A plan of cuFFT, for arrays of one context. The last use destroys it. Its work area comes from the pool of arrays.
#[derive(Debug)]
pub struct Plan {
    table: &'static CufftTable,
    ctx: Context,
    raw: cufftHandle,
    request: PlanRequest,
    work_bytes: usize,
    /// Calls of several threads take turns; holds the work area that the user gave.
    work_area: Mutex<Option<GpuArray>>,
    _release: ReleaseInContext,
}

impl Plan {
    /// Makes a plan.
    ///
    /// # Errors
    /// When the request is none that cuFFT knows, for virtual devices, and when the library is missing.
    pub fn new(ctx: &crate::Context, request: &PlanRequest) -> Result<Self> {
        Self::new_in(ctx.driver_context(), request)
    }

    /// [`Plan::new`] for a context of the driver.
    ///
    /// # Errors
    /// As there.
    pub fn new_in(ctx: &Context, request: &PlanRequest) -> Result<Self> {
        request.check()?;
        LIBRARY.check_device(ctx, "Plan", "rtcg.fft")?;
        let table = CufftTable::load().map_err(|error| LibraryError::not_loaded(LIBRARY, &error))?;
        let (mut raw, mut work_bytes) = (0, 0);
        ctx.with_current(|| {
            call_library!(LIBRARY, table, cufftCreate(&raw mut raw))?;
            let destroy = move || {
                // SAFETY: the last use of the plan.
                let _ = unsafe { table.cufftDestroy(raw) };
            };
            let release = ReleaseInContext::new(ctx, destroy);
            call_library!(LIBRARY, table, cufftSetAutoAllocation(raw, 0))?;
            let rank = request.lengths.len() as i32;
            let null = (std::ptr::null(), 1, 0);
            let [(in_embed, in_stride, in_distance), (out_embed, out_stride, out_distance)] = match &request.layout {
                None => [null; 2],
                Some(layout) => {
                    [0, 1].map(|i: usize| (layout[i].lengths.as_ptr(), layout[i].stride, layout[i].distance))
                }
            };
            let TransformTypes { input, output } = request.types;
            call_library!(
                LIBRARY,
                table,
                cufftXtMakePlanMany(
                    raw,
                    rank,
                    request.lengths.as_ptr(),
                    in_embed,
                    in_stride,
                    in_distance,
                    input,
                    out_embed,
                    out_stride,
                    out_distance,
                    output,
                    request.batch,
                    &raw mut work_bytes,
                    request.types.execution()
                )
            )?;
            let (ctx, request, work_area) = (ctx.clone(), request.clone(), Mutex::default());
            Ok(Self { table, ctx, raw, request, work_bytes, work_area, _release: release })
        })
    }

    /// The bytes of its work area.
    pub fn work_bytes(&self) -> usize {
        self.work_bytes
    }

    /// What it was made for.
    pub fn request(&self) -> &PlanRequest {
        &self.request
    }

    /// The library's handle.
    pub fn raw(&self) -> cufftHandle {
        self.raw
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// Uses the memory of an array as work area from now on; `None` takes memory of the pool for each transform.
    ///
    /// # Errors
    /// When it is too small.
    pub fn set_work_area(&self, area: Option<&GpuArray>) -> Result<()> {
        if let Some(area) = area {
            check_contexts(&self.ctx, &[("work_area", area)])?;
            if area.nbytes() < self.work_bytes || !area.is_contiguous(Order::C) {
                return Err(Error::value_error(format!(
                    "work_area has {} bytes; expected a contiguous array of at least {}",
                    area.nbytes(),
                    self.work_bytes
                )));
            }
        }
        *lock_ignoring_poison(&self.work_area) = area.cloned();
        Ok(())
    }

    fn check_side(&self, name: &str, array: &GpuArray, side: usize, in_place: bool) -> Result<()> {
        let kind = if side == 0 { self.request.types.input } else { self.request.types.output };
        let (dtype, parts) = array_type(kind);
        if array.dtype() != dtype {
            return Err(Error::type_error(format!("{name} has dtype {}; the plan is for {dtype}", array.dtype())));
        }
        if !array.is_contiguous(Order::C) {
            let (shape, strides) = (array.shape(), array.strides());
            return Err(Error::value_error(format!(
                "{name}, of shape {shape:?} with strides {strides:?}, is not contiguous in row-major order"
            )));
        }
        let needed = (self.request.side_extent(side, in_place) as usize).saturating_mul(parts * dtype.itemsize());
        if array.nbytes() < needed {
            let given = array.nbytes();
            return Err(Error::value_error(format!("{name} has {given} bytes; the plan reaches over {needed}")));
        }
        Ok(())
    }

    /// Transforms `x` into `out`, a new array without it, which may be `x` itself. `inverse` chooses the direction between
    /// complex numbers; nothing is divided. Does not wait. A transform from complex to real numbers overwrites `x`.
    ///
    /// # Errors
    /// When arrays do not fit, and those of the library.
    pub fn execute(&self, x: &GpuArray, out: Option<&GpuArray>, inverse: bool) -> Result<GpuArray> {
        let in_place = out.is_some_and(|out| out.device_ptr() == x.device_ptr());
        self.check_side("x", x, 0, in_place)?;
        let out = match out {
            Some(out) => {
                self.check_side("out", out, 1, in_place)?;
                if !in_place && out.overlaps(x) {
                    return Err(Error::value_error("out overlaps x; in place, they begin at one address"));
                }
                out.clone()
            }
            None => {
                let (dtype, _) = array_type(self.request.types.output);
                GpuArray::empty(x.context(), &self.request.output_shape(), dtype, Order::C)?
            }
        };
        check_contexts(&self.ctx, &[("x", x), ("out", &out)])?;
        let (table, raw) = (self.table, self.raw);
        let stream = current_stream_handle(&self.ctx)?;
        let given = lock_ignoring_poison(&self.work_area);
        self.ctx.with_current(|| {
            let pooled = match &*given {
                None if self.work_bytes > 0 => Some(workspace(x, self.work_bytes)?),
                _ => None,
            };
            call_library!(LIBRARY, table, cufftSetStream(raw, stream))?;
            if let Some(area) = pooled.as_ref().or(given.as_ref()) {
                call_library!(LIBRARY, table, cufftSetWorkArea(raw, area.first_element_address()))?;
            }
            let direction = if inverse { CUFFT_INVERSE } else { CUFFT_FORWARD };
            let (from, to) = (x.first_element_address(), out.first_element_address());
            Ok::<_, Error>(call_library!(LIBRARY, table, cufftXtExec(raw, from, to, direction))?)
        })?;
        Ok(out)
    }
}
