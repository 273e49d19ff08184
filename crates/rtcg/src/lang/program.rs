//! Programs as Rust calls them: compiled once for the types of their arguments.

use super::{Compiled, RunError, Value};
use rtcg_array::GpuArray;
use rtcg_hal::{ArrayContext, ArrayError, DType};
use rtcg_lang::arguments::ArgType;
use rtcg_lang::ir::Number;
use rtcg_lang::surface::Source;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A data-parallel program.
///
/// ```
/// use rtcg::lang::Program;
/// use rtcg::lang::builder::{lambda, map, program};
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let arrays = ArrayFactory::new(&Context::new()?)?;
/// let axpy = Program::new(program("axpy", |[a, x, y]| map(lambda(|[xi, yi]| a * xi + yi), [x, y])));
/// let x = arrays.from_slice(&[1.0f32, 2.0, 3.0])?;
/// let z = axpy.call(&[2.0.into(), x.as_dyn().into(), x.as_dyn().into()])?;
/// assert_eq!(arrays.typed_from_dyn::<f32>(z[0].clone())?.to_vec()?, [3.0, 6.0, 9.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Program {
    source: Source,
    contracts: bool,
    compiled: Mutex<HashMap<Vec<ArgType>, Arc<Compiled>>>,
}

/// An argument of a program.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A number that takes the dtype of what it meets.
    Weak(Number),
    /// A number of a dtype.
    Number(Number, DType),
    /// A sequence: of numbers, or, with more axes, of sequences.
    Array(GpuArray),
}

impl From<f64> for Argument {
    fn from(value: f64) -> Self {
        Argument::Weak(Number::Float(value))
    }
}

impl From<i64> for Argument {
    fn from(value: i64) -> Self {
        Argument::Weak(Number::Int(value.into()))
    }
}

impl From<&GpuArray> for Argument {
    fn from(array: &GpuArray) -> Self {
        Argument::Array(array.clone())
    }
}

impl Program {
    /// A program that a front end or [`rtcg_lang::builder`] made; compiled when it is called.
    pub fn new(source: Source) -> Self {
        Self { source, contracts: false, compiled: Mutex::default() }
    }

    /// A program that may round a product and the sum with it once, as compilers of C do it.
    pub fn contracting(source: Source) -> Self {
        Self { contracts: true, ..Self::new(source) }
    }

    /// The program for types of arguments.
    ///
    /// # Errors
    /// The report of all problems.
    pub fn compiled(&self, types: &[ArgType]) -> rtcg_hal::Result<Arc<Compiled>> {
        let lock = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(types) {
            return Ok(known.clone());
        }
        let compiled = Compiled::new(&self.source, types, self.contracts)
            .map_err(|problems| ArrayError::type_error(problems.report(&self.source.files)))?;
        let compiled = Arc::new(compiled);
        lock().insert(types.to_vec(), compiled.clone());
        Ok(compiled)
    }

    /// Runs the program where its arrays are; returns the arrays that the results are made of, in order. Does not wait,
    /// unless the program needs a number on the host.
    ///
    /// # Errors
    /// When the program has problems, no argument is an array, or the run fails.
    pub fn call(&self, arguments: &[Argument]) -> rtcg_hal::Result<Vec<GpuArray>> {
        let array = arguments.iter().find_map(|argument| match argument {
            Argument::Array(array) => Some(array),
            _ => None,
        });
        let array = array.ok_or_else(|| ArrayError::value_error("no argument is an array, which says where to run"))?;
        self.call_in(array.context(), arguments)
    }

    /// As [`Program::call`], in a context.
    ///
    /// # Errors
    /// As [`Program::call`].
    pub fn call_in(&self, ctx: &Arc<ArrayContext>, arguments: &[Argument]) -> rtcg_hal::Result<Vec<GpuArray>> {
        let types: Vec<ArgType> = arguments.iter().map(type_of).collect();
        let compiled = self.compiled(&types)?;
        let inputs = arguments.iter().map(value_of).collect::<rtcg_hal::Result<Vec<_>>>()?;
        let results = compiled.run(ctx, inputs).map_err(|error| match error {
            RunError::Array(error) => error,
            RunError::Problem(problem) => ArrayError::type_error(problem.message),
        })?;
        results.into_iter().map(|result| result.into_array(ctx)).collect()
    }
}

fn weak_dtype(number: &Number) -> DType {
    match number {
        Number::Bool(_) => DType::Bool,
        Number::Int(_) => DType::I64,
        Number::Float(_) => DType::F64,
        Number::Complex(..) => DType::C128,
    }
}

fn type_of(argument: &Argument) -> ArgType {
    match argument {
        Argument::Weak(number) => {
            let dtype = weak_dtype(number);
            ArgType::Scalar { dtype, weak: dtype != DType::Bool }
        }
        Argument::Number(_, dtype) => ArgType::Scalar { dtype: *dtype, weak: false },
        Argument::Array(array) if array.ndim() == 0 => ArgType::Scalar { dtype: array.dtype(), weak: false },
        Argument::Array(array) => ArgType::Array { dtype: array.dtype(), ndim: array.ndim(), weak: false },
    }
}

fn value_of(argument: &Argument) -> rtcg_hal::Result<Value> {
    Ok(match argument {
        Argument::Weak(number) => Value::Host(*number, weak_dtype(number)),
        Argument::Number(number, dtype) => Value::Host(*number, *dtype),
        Argument::Array(array) => Value::Array(array.to_contiguous()?),
    })
}
