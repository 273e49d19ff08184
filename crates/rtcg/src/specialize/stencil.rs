//! Stencils on arrays: each element is computed from elements at constant distances.
//!
//! A [`Stencil`] is made of a syntax tree ([`Stencil::new`]), or of a program in which [`match_stencil`] found one
//! ([`Stencil::of_model`]).
//!
//! ```
//! use rtcg::lang::text::parse_program;
//! use rtcg::lang::Value;
//! use rtcg::prelude::*;
//! use rtcg::specialize::stencil::{Boundary, Stencil, StencilOptions, match_stencil};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let program = parse_program(
//!     "(program ((u [float32]))
//!        (let (n int64) (length u 0))
//!        (let (d [float32])
//!          (gen ((i n))
//!            (let (l int64) (add int64 i -1))
//!            (let (r int64) (add int64 i 1))
//!            (let (a float32) (read checked u l))
//!            (let (b float32) (read checked u r))
//!            (let (c float32) (subtract float32 b a))
//!            (results c)))
//!        (results d))",
//! )?;
//! let model = match_stencil(&program, &program.body.stmts[1]).map_err(|mismatch| mismatch.reason)?;
//! assert_eq!(model.radius, [(1, 1)]);
//! let difference = Stencil::of_model(model, StencilOptions { boundary: Boundary::Wrap, ..Default::default() })?;
//! let arrays = ArrayFactory::new(&Context::new()?)?;
//! let u = arrays.from_slice(&[1.0f32, 2.0, 4.0, 8.0])?;
//! let found = difference.call(u.as_dyn().context(), &[Value::Array(u.as_dyn().clone())], None)?;
//! assert_eq!(arrays.typed_from_dyn::<f32>(found[0].clone())?.to_vec()?, [-6.0, 3.0, 6.0, -3.0]);
//! # Ok(())
//! # }
//! ```

use crate::lang::Value;
use crate::lang::value::bytes_of;
use rtcg_array::{GpuArray, Order, PythonTuple, array_args};
use rtcg_hal::{ArrayContext, ArrayError, DType, Kernel, KernelSpec, LaunchArgs, Result};
use rtcg_lang::arguments::ArgType;
use rtcg_lang::elaborate::{Elaborated, elaborate_stencil};
use rtcg_lang::ir::{Number, Var};
use rtcg_lang::problem::{Code, Problem, Problems};
use rtcg_lang::specialize::{StencilLaunch, number_of};
use rtcg_lang::surface::{Pattern, Source};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use rtcg_lang::specialize::{
    Boundary, Halo, Mismatch, StencilChoice, StencilField, StencilModel, StencilProblem, find_stencils, match_stencil,
};

/// What is beyond fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StencilOptions {
    /// What lies beyond the borders.
    pub boundary: Boundary,
    /// What elements become that [`Boundary::Interior`] leaves out.
    pub halo: Halo,
    /// The number beyond the borders with [`Boundary::Constant`].
    pub constant: Number,
}

impl Default for StencilOptions {
    fn default() -> Self {
        Self { boundary: Boundary::default(), halo: Halo::default(), constant: Number::Int(0) }
    }
}

/// A kernel of one variant, on one context, for 32-bit indices or longer ones.
#[derive(Debug, PartialEq, Eq, Hash)]
struct KernelKey {
    context: u64,
    choice: StencilChoice,
    is_small: bool,
}

/// What was decided for fields of a shape.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    context: u64,
    /// The choices of the context when it was decided.
    epoch: u64,
    is_iterated: bool,
    shape: Vec<usize>,
    choice: StencilChoice,
}

/// The most plans that a stencil keeps.
const MAX_PLANS: usize = 16;

/// A stencil for arguments of certain types.
pub struct Stencil {
    model: StencilModel,
    options: StencilOptions,
    /// The names of the program's parameters, for messages.
    names: Vec<String>,
    is_tuple: bool,
    kernels: Mutex<HashMap<KernelKey, Arc<dyn Kernel>>>,
    plans: Mutex<Vec<Plan>>,
}

impl std::fmt::Debug for Stencil {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stencil").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Stencil {
    /// The stencil that the first function of a source is, for arguments of these types: arrays are fields.
    ///
    /// # Errors
    /// All problems of the function.
    pub fn new(source: &Source, arguments: &[ArgType], options: StencilOptions) -> std::result::Result<Self, Problems> {
        let Elaborated { program, result } = elaborate_stencil(source, arguments)?;
        let span = source.functions.first().map(|function| function.span).unwrap_or_default();
        let problem = |code, span, message: String| {
            let mut problems = Problems::default();
            problems.add(Problem::new(code, span, message));
            problems
        };
        let stmt = program.body.stmts.iter().find(|stmt| !stmt.exp.space().is_empty());
        let model = stmt.map(|stmt| match_stencil(&program, stmt));
        let model = match model {
            Some(Ok(model)) => model,
            Some(Err(mismatch)) => {
                return Err(problem(Code::Static, mismatch.span, mismatch.reason));
            }
            None => return Err(problem(Code::Result, span, "it computes nothing".into())),
        };
        let mut stencil =
            Self::of_model(model, options).map_err(|error| problem(Code::Argument, span, error.to_string()))?;
        let params = source.functions.first().map(|function| function.params.as_slice()).unwrap_or_default();
        stencil.is_tuple = matches!(result, ArgType::Tuple(_));
        stencil.names = arguments
            .iter()
            .zip(params)
            .flat_map(|(argument, pattern)| {
                let name = if let Pattern::Name(name, _) = pattern { name.to_string() } else { "an argument".into() };
                std::iter::repeat_n(name, argument.leaves().len())
            })
            .collect();
        Ok(stencil)
    }

    /// A stencil that was found in a program.
    ///
    /// # Errors
    /// When a field cannot hold the constant, or the model needs scalars that are no parameters of its program.
    pub fn of_model(model: StencilModel, options: StencilOptions) -> Result<Self> {
        let params = &model.program.params;
        if let Some(other) = model.scalars.iter().find(|scalar| !params.contains(scalar)) {
            let text = format!("the stencil needs variable {} of its program, which is no parameter", other.0);
            return Err(ArrayError::value_error(text));
        }
        if let Some(other) = model.fields.iter().find(|field| !params.contains(&field.array)) {
            let text = format!("the stencil reads array {} of its program, which is no parameter", other.array.0);
            return Err(ArrayError::value_error(text));
        }
        if options.boundary == Boundary::Constant
            && let Some(field) = model.fields.iter().find(|field| number_of(options.constant, field.dtype).is_none())
        {
            let text =
                format!("constant is {}; expected a number that {} can hold", shown(options.constant), field.dtype);
            return Err(ArrayError::type_error(text));
        }
        let names = (1..=params.len()).map(|at| format!("argument {at}")).collect();
        let is_tuple = model.outputs.len() > 1;
        Ok(Self { model, options, names, is_tuple, kernels: Mutex::default(), plans: Mutex::default() })
    }

    /// What was recognised.
    pub fn model(&self) -> &StencilModel {
        &self.model
    }

    /// The names of the program's parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the function returns a tuple.
    pub fn is_tuple(&self) -> bool {
        self.is_tuple
    }

    /// Computes the stencil in the current queue; does not wait, unless a scalar is on the device. `values` are those of
    /// the program's parameters, in order; results are written to `outs` if they are given.
    ///
    /// # Errors
    /// When the fields, or `outs`, differ in shape, `outs` have other dtypes than the results, or the device fails.
    pub fn call(&self, ctx: &Arc<ArrayContext>, values: &[Value], outs: Option<&[GpuArray]>) -> Result<Vec<GpuArray>> {
        let inputs = self.inputs(values)?;
        if let Some(outs) = outs {
            self.check_outputs(outs, &inputs.shape)?;
        }
        let is_direct =
            |out: &GpuArray| out.is_contiguous(Order::C) && !inputs.fields.iter().any(|field| field.shares_buffer(out));
        let results: Vec<GpuArray> = match outs {
            Some(outs) if outs.iter().all(is_direct) => outs.to_vec(),
            _ => self.empty(ctx, &inputs.shape)?,
        };
        let choice = self.choice(ctx, &inputs.shape, false);
        self.launch(ctx, choice, &results, &inputs.fields, &inputs)?;
        if let Some(outs) = outs {
            for (out, result) in outs.iter().zip(&results).filter(|(out, _)| !is_direct(out)) {
                out.assign(result)?;
            }
            return Ok(outs.to_vec());
        }
        Ok(results)
    }

    /// Applies the stencil `steps` times: each result becomes the field with its number, and other fields stay. Several
    /// steps may be one launch. Does not wait, unless a scalar is on the device.
    ///
    /// # Errors
    /// As [`Stencil::call`], and when results are no fields.
    pub fn iterate(&self, ctx: &Arc<ArrayContext>, values: &[Value], steps: u64) -> Result<Vec<GpuArray>> {
        if let Some(reason) = self.model.not_iterable() {
            return Err(ArrayError::type_error(format!("the stencil cannot be iterated: {reason}")));
        }
        let inputs = self.inputs(values)?;
        let n = self.model.outputs.len();
        let mut fields = inputs.fields.clone();
        if steps == 0 || inputs.shape.contains(&0) {
            return fields[..n].iter().map(|field| field.copy(Some(Order::C))).collect();
        }
        let choice = self.choice(ctx, &inputs.shape, true);
        let fused = choice.steps as u64;
        // The two sets of results take turns; the caller's fields are not written to.
        let (mut next, mut is_own): (Option<Vec<GpuArray>>, bool) = (None, false);
        let mut left = steps;
        while left > 0 {
            let now = left.min(fused);
            let target = next.take().map_or_else(|| self.empty(ctx, &inputs.shape), Ok)?;
            self.launch(ctx, StencilChoice { steps: now as i64, ..choice }, &target, &fields, &inputs)?;
            let before = fields.splice(..n, target).collect();
            next = is_own.then_some(before);
            (left, is_own) = (left - now, true);
        }
        fields.truncate(n);
        Ok(fields)
    }

    /// The source of the kernel for fields of a shape.
    ///
    /// # Errors
    /// When kernels cannot compute the body.
    pub fn source(&self, ctx: &ArrayContext, shape: &[usize], is_iterated: bool) -> Result<String> {
        let choice = self.choice(ctx, shape, is_iterated);
        Ok(self.kernel_of(choice, shape)?.source())
    }

    /// The variant for fields of a shape.
    pub fn choice(&self, ctx: &ArrayContext, shape: &[usize], is_iterated: bool) -> StencilChoice {
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let (context, epoch) = (ctx.context_number(), ctx.choices_epoch());
        let is_known = |plan: &&Plan| {
            plan.context == context && plan.epoch == epoch && plan.is_iterated == is_iterated && plan.shape == shape
        };
        if let Some(known) = plans().iter().find(is_known) {
            return known.choice;
        }
        let has_steps = is_iterated && self.model.not_iterable().is_none();
        // Without the lock: choices may do anything.
        let chosen = ctx.choose::<StencilChoice>(&self.model.problem(shape, has_steps));
        let steps = if has_steps { chosen.steps } else { 1 };
        let choice = self.model.possible(StencilChoice { steps, ..chosen }, self.options.boundary);
        let mut plans = plans();
        if plans.len() == MAX_PLANS {
            plans.remove(0);
        }
        plans.push(Plan { context, epoch, is_iterated, shape: shape.to_vec(), choice });
        choice
    }

    fn kernel_of(&self, choice: StencilChoice, shape: &[usize]) -> Result<impl KernelSpec + use<>> {
        let StencilOptions { boundary, halo, constant } = self.options;
        let launch = StencilLaunch { boundary, halo, constant, choice, is_small: is_small(shape) };
        self.model.kernel(&launch).map_err(|problem| ArrayError::type_error(problem.message))
    }

    fn launch(
        &self,
        ctx: &Arc<ArrayContext>,
        choice: StencilChoice,
        outs: &[GpuArray],
        fields: &[GpuArray],
        inputs: &Inputs,
    ) -> Result<()> {
        if inputs.shape.contains(&0) {
            return Ok(());
        }
        let key = KernelKey { context: ctx.context_number(), choice, is_small: is_small(&inputs.shape) };
        let known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let kernel = match known {
            Some(known) => known,
            None => {
                let made = ctx.compiled_kernel(&self.kernel_of(choice, &inputs.shape)?)?;
                self.kernels.lock().unwrap_or_else(PoisonError::into_inner).insert(key, made.clone());
                made
            }
        };
        let arrays: Vec<&GpuArray> = outs.iter().chain(fields).collect();
        let mut args: LaunchArgs = array_args(&arrays)?;
        inputs.shape.iter().for_each(|n| args.push_i64(*n as i64));
        inputs.scalars.iter().for_each(|(bytes, dtype)| args.push(bytes, alignment(*dtype)));
        let (blocks, threads) = self.model.geometry(&choice, &inputs.shape);
        ctx.queue().launch(&kernel, [blocks, 1, 1], [threads, 1, 1], 0, args.view())
    }

    fn empty(&self, ctx: &Arc<ArrayContext>, shape: &[usize]) -> Result<Vec<GpuArray>> {
        self.model.outputs.iter().map(|dtype| GpuArray::empty(ctx, shape, *dtype, Order::C)).collect()
    }

    fn inputs(&self, values: &[Value]) -> Result<Inputs> {
        let params = &self.model.program.params;
        if values.len() != params.len() {
            let text = format!("{} values are given; the stencil has {} parameters", values.len(), params.len());
            return Err(ArrayError::value_error(text));
        }
        let at = |var: Var| params.iter().position(|param| *param == var).unwrap_or(0);
        let mut fields: Vec<GpuArray> = Vec::with_capacity(self.model.fields.len());
        let mut first: Option<usize> = None;
        for field in &self.model.fields {
            let at = at(field.array);
            let Some(array) = values[at].array() else {
                return Err(ArrayError::type_error(format!("{} is a number; expected an array", self.names[at])));
            };
            let before = first.get_or_insert(at);
            if let Some(expected) = fields.first().filter(|field| field.shape() != array.shape()) {
                return Err(ArrayError::value_error(format!(
                    "{} has shape {}; expected {}, that of {}",
                    self.names[at],
                    PythonTuple(array.shape()),
                    PythonTuple(expected.shape()),
                    self.names[*before]
                )));
            }
            fields.push(array.to_contiguous()?);
        }
        let scalars = self.model.scalars.iter().map(|scalar| {
            let (number, dtype) = values[at(*scalar)].number()?;
            Ok((bytes_of(number, dtype), dtype))
        });
        let scalars = scalars.collect::<Result<_>>()?;
        let shape = fields.first().map(|field| field.shape().to_vec()).unwrap_or_default();
        Ok(Inputs { fields, scalars, shape })
    }

    fn check_outputs(&self, outs: &[GpuArray], shape: &[usize]) -> Result<()> {
        let expected = &self.model.outputs;
        if outs.len() != expected.len() {
            let text = format!("out has {} array(s); expected {}", outs.len(), expected.len());
            return Err(ArrayError::value_error(text));
        }
        for (out, dtype) in outs.iter().zip(expected) {
            if out.shape() != shape {
                let (found, shape) = (PythonTuple(out.shape()), PythonTuple(shape));
                return Err(ArrayError::value_error(format!("out has shape {found}; expected {shape}")));
            }
            if out.dtype() != *dtype {
                return Err(ArrayError::type_error(format!("out has dtype {}; expected {dtype}", out.dtype())));
            }
        }
        Ok(())
    }
}

/// What a stencil is computed from.
struct Inputs {
    fields: Vec<GpuArray>,
    scalars: Vec<(Vec<u8>, DType)>,
    shape: Vec<usize>,
}

/// Whether flat indices, and indices a halo beyond, fit in 32 bits.
fn is_small(shape: &[usize]) -> bool {
    shape.iter().product::<usize>() < 1 << 30
}

fn alignment(dtype: DType) -> usize {
    rtcg_codegen::c_declarations::CType::from(dtype).align
}

fn shown(number: Number) -> String {
    match number {
        Number::Bool(true) => "True".into(),
        Number::Bool(false) => "False".into(),
        Number::Int(value) => value.to_string(),
        Number::Float(value) => format!("{value:?}"),
        Number::Complex(re, im) => format!("({re:?}{im:+?}j)"),
    }
}
