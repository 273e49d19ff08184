//! Kernels from short C snippets: elementwise kernels, reductions, scans and random numbers, on the memory of any owner.
//!
//! Kernels are enqueued in the stream of the calling thread ([`crate::run_in_stream`]), the default one at first.
//!
//! An elementwise kernel executes a statement for each `i`:
//!
//! ```
//! use rtcg::generators::{ElementwiseKernel, GeneratedKernelArg, IndexRange, scalar};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let clamp = ElementwiseKernel::builder("float *x, float limit")
//!     .operation("x[i] = clamped(x[i], limit)")
//!     .preamble("__device__ float clamped(float x, float limit) { return fminf(fmaxf(x, -limit), limit); }")
//!     .build()?;
//! let x = ctx.to_device(&[-3.0f32, 0.5, 4.0])?;
//! let args = [GeneratedKernelArg::Array(x.view()), scalar(&1.0f32)];
//! // SAFETY: the snippet touches element `i` of its array.
//! unsafe { clamp.launch(&ctx.arrays()?, &args, IndexRange::All)? };
//! assert_eq!(x.to_vec()?, [-1.0, 0.5, 1.0]);
//! # Ok(())
//! # }
//! ```
//!
//! A reduction combines the values of an expression:
//!
//! ```
//! use rtcg::generators::{GeneratedKernelArg, ReductionKernel};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let dot = ReductionKernel::builder("const float *x, const float *y")
//!     .map("x[i] * y[i]")
//!     .reduce("a + b")
//!     .neutral("0")
//!     .out("float")
//!     .build()?;
//! let (x, y) = (ctx.to_device(&[2.0f32; 1000])?, ctx.to_device(&[3.0f32; 1000])?);
//! let result = ctx.zeros::<f32>(1)?;
//! let args = [GeneratedKernelArg::Array(x.view()), GeneratedKernelArg::Array(y.view())];
//! // SAFETY: the snippets read element `i` of arrays that both have 1000 elements.
//! unsafe { dot.launch(&ctx.arrays()?, &args, &result.view())? };
//! assert_eq!(result.to_vec()?, [6000.0]);
//! # Ok(())
//! # }
//! ```
//!
//! A scan has a running result at each `i`:
//!
//! ```
//! use rtcg::generators::{GeneratedKernelArg, ScanKernel};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! // Copies the positive elements to the front of `y`, and writes how many there are.
//! let compact = ScanKernel::builder("const int *x, int *y, int *count")
//!     .item("int")
//!     .input("x[i] > 0 ? 1 : 0")
//!     .scan("a + b")
//!     .neutral("0")
//!     .output("if (prev_item != item) y[item - 1] = x[i]; if (i == N - 1) *count = item")
//!     .build()?;
//! let x = ctx.to_device(&[5i32, -1, 7, 0, 2])?;
//! let (y, count) = (ctx.zeros::<i32>(5)?, ctx.zeros::<i32>(1)?);
//! let args = [&x, &y, &count].map(|array| GeneratedKernelArg::Array(array.view()));
//! // SAFETY: at most five elements of `y` and one of `count` are written.
//! unsafe { compact.launch(&ctx.arrays()?, &args, None)? };
//! assert_eq!((count.to_vec()?, y.to_vec()?), (vec![3], vec![5, 7, 2, 0, 0]));
//! # Ok(())
//! # }
//! ```
//!
//! Generators fill arrays with random numbers:
//!
//! ```
//! use rtcg::codegen::DType;
//! use rtcg::codegen::random::{Distribution, RandomEngine};
//! use rtcg::generators::{DistributionParameters, Generator};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let generator = Generator::new(RandomEngine::Philox, 42, 0)?;
//! let x = ctx.zeros::<f32>(1000)?;
//! generator.fill(&ctx.arrays()?, Distribution::HalfOpen, &DType::F32.into(), &x.view(), DistributionParameters::Real(0.0, 1.0))?;
//! assert!(x.to_vec()?.iter().all(|x| (0.0..1.0).contains(x)));
//! # Ok(())
//! # }
//! ```

use crate::element::{Element, unpadded_bytes};
use crate::memory::DeviceVec;
pub use crate::typed_elementwise::TypedElementwise;
pub use rtcg_array::generators::*;
pub use rtcg_cuda::clear_workspaces;

/// A number by value. Integers convert to declared floating-point types, and numbers of one kind convert to each other.
/// Floating-point numbers do not convert to integers, and a value that the declared type cannot hold is an error.
///
/// Structures and arrays are passed as their bytes; one with padding does not compile.
pub fn scalar<T: Element>(value: &T) -> GeneratedKernelArg<'_> {
    let bytes = unpadded_bytes(value);
    T::NUMBER_TYPE.map_or(GeneratedKernelArg::Bytes(bytes), |number| GeneratedKernelArg::Number(bytes, number))
}

impl<T: Element> TracksUse for DeviceVec<T> {
    fn record_use(&self) {
        self.used_in(rtcg_cuda::current_stream().as_ref());
    }
}

impl<T: Element> DeviceVec<T> {
    /// This memory as a one-dimensional array.
    pub fn view(&self) -> ArrayView<'_> {
        ArrayView {
            ptr: self.ptr(),
            shape: self.shape(),
            strides: Self::CONTIGUOUS_STRIDES,
            itemsize: size_of::<T>(),
            number: T::NUMBER_TYPE,
            context: self.context_number(),
            owner: UseTracker::from(self),
        }
    }
}
