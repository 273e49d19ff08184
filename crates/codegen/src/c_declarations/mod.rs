//! C declarations: the types that kernels know by name, and the parameters declared with them.
//!
//! `float *x, const pycuda::complex<double> *y, int n, double2 v` becomes a list of [`Argument`]s.
//! [`TypeRegistry::register`] adds types outside C (structures of the user).

mod argument;
mod ctype;
mod registry;

pub(crate) use argument::check_name_is_free;
pub use argument::{Argument, ArgumentError, check_names, parse_argument, parse_arguments};
pub use ctype::{CType, CTypeForm};
pub use registry::{RegistryError, TypeRegistry};
