//! Arrays with a static element type: [`GpuArray<T>`] over [`GpuArrayDyn`], whose element type is known at run time.
//!
//! [`ArrayFactory`] makes them on a context. Operators take arrays, which are broadcast, and numbers. They panic if
//! shapes do not fit, if the first use of an operation cannot be compiled (NVRTC is not installed), or if the device
//! fails; each has a method that returns an error instead (`try_add` for `+`). Views and clones share the memory:
//! `a += 1` is seen through all of them.
//!
//! ```
//! use rtcg::prelude::*;
//! use rtcg::index;
//!
//! # fn main() -> rtcg::Result<()> {
//! let arrays = ArrayFactory::new(&Context::new()?)?;
//! let a = arrays.from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?.reshape(&[2, 3])?;
//! let column_sums = a.sum_axes(&[0])?;
//! let b = (&a - &column_sums) * 2.0;
//! assert_eq!(b.to_vec()?, [-8.0, -10.0, -12.0, -2.0, -4.0, -6.0]);
//! let last_row_backwards = a.index(&index![-1, (.., -1)])?;
//! assert_eq!(last_row_backwards.to_vec()?, [6.0, 5.0, 4.0]);
//! assert_eq!(a.greater(3.5)?.to_vec()?, [false, false, false, true, true, true]);
//! # Ok(())
//! # }
//! ```
//!
//! Operations that the typed array lacks are available through [`GpuArray::as_dyn`] and
//! [`ArrayFactory::typed_from_dyn`]:
//!
//! ```
//! use rtcg::array::Op;
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let arrays = ArrayFactory::new(&Context::new()?)?;
//! let a = arrays.from_slice(&[3i32, 4])?;
//! let roots = arrays.typed_from_dyn::<f64>(a.as_dyn().binary(Op::Hypot, a.as_dyn())?)?;
//! assert_eq!(roots.shape(), [2]);
//! # Ok(())
//! # }
//! ```

mod element;
#[cfg(feature = "num-complex")]
mod fourier;
mod functions;
mod gpu_array;
mod linalg;
mod map;
#[cfg(feature = "ndarray")]
mod ndarray_conversion;
mod operators;

pub use element::{Arithmetic, ArrayElement, Bitwise, Float, Inexact, Integer, MatrixElement, Ordered, Signed};
pub use functions::einsum;
pub use gpu_array::{ArrayFactory, GpuArray};
pub use linalg::{LeastSquares, Svd};
pub use operators::Operand;
pub use rtcg_array::GpuArray as GpuArrayDyn;
