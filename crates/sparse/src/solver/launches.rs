//! The launches of a program: kernels with their own arrays, prepared once and repeated.

use super::SolverMode;
use super::fusion::{BodyStep, FusedKernel, Names, Space, Step, fuse};
use super::kernel::{Kind, Parameters, print, state_layout};
use super::method::{Basis, Method};
use super::persistent::PersistentLaunch;
use super::program::parse_parts;
use super::state_reader::StateLayout;
use super::system::{System, initial_solution};
use super::{MAX_HISTORY, SolveOptions};
use crate::kernels::elements::sum_dtype;
use crate::kernels::spmv::SpmvEpilogue;
use crate::kernels::{STOP_FLAG, THREADS};
use crate::operator::LinearOperator;
use rtcg_array::{GpuArray, Order, array_args, push_arrays};
use rtcg_hal::{ArrayContext, ArrayError, DType, Launch, LaunchableGraph, Result};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One thing to enqueue.
pub(super) enum SolverStep<'a> {
    Kernel(Launch),
    /// Part of `y = A x` that is not enqueued where the solution is known to be zeros.
    Start(Launch),
    /// `y = A x` by an external operator; with `starts`, skipped if the solution is known to be zeros.
    Apply {
        operator: &'a dyn LinearOperator,
        x: GpuArray,
        y: GpuArray,
        starts: bool,
    },
}

/// The programs of a solver, ready to be enqueued, and the arrays that they work on.
pub(super) struct Launches<'a> {
    pub(super) ctx: Arc<ArrayContext>,
    pub(super) x: GpuArray,
    pub(super) history: Option<GpuArray>,
    /// Right sides, each with a state of the layout.
    pub(super) count: usize,
    pub(super) layout: StateLayout,
    /// The state behind an iteration, and behind the lines at the end.
    pub(super) state: GpuArray,
    pub(super) end_state: GpuArray,
    begin: Vec<SolverStep<'a>>,
    iteration: Vec<SolverStep<'a>>,
    end: Vec<SolverStep<'a>>,
    /// Whatever launches have addresses of.
    _kept: Vec<GpuArray>,
}

/// Turns of a loop in a graph that are launched at once. The host looks at interrupts between launches.
const MAX_TURNS: u32 = 2048;

/// Scalars that every state has, in this order: what the host looks at stands first.
const COMMON_SCALARS: [&str; 5] = ["stop", "iterations", "residual", "threshold", "negative"];

impl<'a> Launches<'a> {
    pub(super) fn new(
        method: &Method,
        system: &'a System<'a>,
        b: &GpuArray,
        x0: Option<&GpuArray>,
        options: &SolveOptions,
    ) -> Result<Self> {
        let mut builder = Builder::new(method, system, b, x0, options)?;
        let (applications, _) = system.applications(b.dtype())?;
        let [begin, iteration, end] = [method.begin, method.iteration, method.end].map(parse_parts);
        let [begin, iteration, end] = [begin?, iteration?, end?];
        let names = &mut builder.names;
        let begin = fuse(names, &begin, &applications)?;
        let iteration = fuse(names, &iteration, &applications)?;
        let end = fuse(names, &end, &applications)?;
        let (places, len) = state_layout(names);
        let state = builder.new_state(len)?;
        let end_state = if end.is_empty() { state.clone() } else { builder.new_state(len)? };
        let begin = builder.launches(&begin, &state, &state, false, len)?;
        let iteration = builder.launches(&iteration, &state, &state, true, len)?;
        let end = if end.is_empty() { Vec::new() } else { builder.launches(&end, &state, &end_state, false, len)? };
        Ok(builder.finish(StateLayout { places, len }, [state, end_state], [begin, iteration, end]))
    }

    /// Enqueues the lines at the beginning, which know no state but the number of iterations.
    pub(super) fn enqueue_begin(&self, is_zero: bool) -> Result<()> {
        for k in 0..self.count {
            self.ctx.queue().fill_zero(stop_address(&self.state) + (8 * k * self.layout.len) as u64, 8)?;
        }
        enqueue(&self.ctx, &self.begin, is_zero)
    }

    pub(super) fn enqueue_iteration(&self) -> Result<()> {
        enqueue(&self.ctx, &self.iteration, false)
    }

    /// Enqueues the lines at the end: those of their own, or the beginning, which computes a residual from the solution.
    pub(super) fn enqueue_end(&self) -> Result<()> {
        if self.end.is_empty() { self.enqueue_begin(false) } else { enqueue(&self.ctx, &self.end, false) }
    }

    /// Whether what is enqueued at once is many iterations.
    pub(super) fn runs_many_iterations(&self) -> bool {
        self.layout.places.contains_key("outer")
    }

    /// Enqueues what begins iterations anew: the lines at the beginning, where those at the end are others.
    pub(super) fn enqueue_restart(&self) -> Result<()> {
        if self.end.is_empty() { Ok(()) } else { self.enqueue_begin(false) }
    }

    /// Whether an iteration is made of launches alone, so that it can be recorded.
    pub(super) fn is_recordable(&self) -> bool {
        self.iteration.iter().all(|launch| match launch {
            SolverStep::Kernel(_) | SolverStep::Start(_) => true,
            SolverStep::Apply { operator, .. } => operator.is_recordable(),
        })
    }

    /// The kernels of an iteration, where it is nothing else.
    pub(super) fn kernels(&self) -> Option<Vec<&Launch>> {
        let kernel = |launch| match launch {
            &SolverStep::Kernel(ref kernel) | &SolverStep::Start(ref kernel) => Some(kernel),
            &SolverStep::Apply { .. } => None,
        };
        self.iteration.iter().map(kernel).collect()
    }

    /// The graph of iterations that a mode launches.
    pub(super) fn record(&self, mode: SolverMode, group: usize) -> Result<Option<Box<dyn LaunchableGraph>>> {
        if mode == SolverMode::Stream {
            return Ok(None);
        }
        let ends_once = matches!(mode, SolverMode::Device | SolverMode::Persistent);
        if ends_once && self.count > 1 {
            let name = if mode == SolverMode::Device { "device" } else { "persistent" };
            let text = format!("mode: '{name}' ends for one right side, not for {}", self.count);
            return Err(ArrayError::value_error(text));
        }
        if mode == SolverMode::Persistent {
            let kernels = self.kernels();
            let launch = PersistentLaunch::new(&self.ctx, kernels.as_deref(), stop_address(&self.state))?;
            return Ok(Some(Box::new(launch)));
        }
        let error =
            |message: &str| Err(ArrayError::value_error(format!("mode: {message}; expected 'stream' or 'auto'")));
        let Some(graphs) = self.ctx.device().graphs() else {
            return error("the device has no graphs");
        };
        if !self.is_recordable() {
            return error("graphs need a csr_array or a dia_array, and no preconditioner but such an array");
        }
        let mut iterations = || (0..group).try_for_each(|_| self.enqueue_iteration());
        if mode == SolverMode::Device {
            return graphs.record_until(stop_address(&self.state), MAX_TURNS, &mut iterations).map(Some);
        }
        graphs.record(&mut iterations).map(Some)
    }
}

fn enqueue(ctx: &ArrayContext, launches: &[SolverStep<'_>], is_zero: bool) -> Result<()> {
    for launch in launches {
        match launch {
            SolverStep::Start(_) | SolverStep::Apply { starts: true, .. } if is_zero => {}
            SolverStep::Kernel(kernel) | SolverStep::Start(kernel) => kernel.enqueue(ctx.queue())?,
            SolverStep::Apply { operator, x, y, .. } if x.ndim() == 2 => operator.apply_rows(x, y)?,
            SolverStep::Apply { operator, x, y, .. } => operator.apply(x, y)?,
        }
    }
    Ok(())
}

/// The address of the number that says whether iterations have stopped.
fn stop_address(state: &GpuArray) -> u64 {
    state.first_element_address() + 8 * STOP_FLAG as u64
}

/// Where the parts of a sum are, and how many.
#[derive(Clone)]
struct Parts {
    array: GpuArray,
    count: u32,
}

/// Makes launches of steps, and the arrays that they need.
pub(super) struct Builder<'a> {
    pub(super) ctx: Arc<ArrayContext>,
    system: &'a System<'a>,
    pub(super) vector: DType,
    shape: [usize; 2],
    /// Right sides, where `b` has a second axis.
    rows: Option<usize>,
    pub(super) names: Names,
    numbers: BTreeMap<String, f64>,
    arrays: BTreeMap<String, GpuArray>,
    parts: BTreeMap<usize, Parts>,
    pub(super) history: Option<GpuArray>,
    pub(super) kept: Vec<GpuArray>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        method: &Method,
        system: &'a System<'a>,
        b: &GpuArray,
        x0: Option<&GpuArray>,
        options: &SolveOptions,
    ) -> Result<Self> {
        let (ctx, vector, shape) = (b.context().clone(), b.dtype(), system.a.shape());
        let [rows, columns] = shape;
        let count = b.shape().get(1).copied();
        let of_all = |length: usize| count.into_iter().chain([length]).collect::<Vec<_>>();
        let mut vectors = BTreeMap::from([("b".to_owned(), Space::Rows), ("x".to_owned(), Space::Columns)]);
        let mut arrays = BTreeMap::new();
        arrays.insert("b".to_owned(), b.transpose(None)?.to_contiguous()?);
        arrays.insert("x".to_owned(), initial_solution(b, columns, x0)?);
        // Vectors of square systems are all of one space, so that they may meet in a kernel.
        let of_rows = if rows == columns { Space::Columns } else { Space::Rows };
        vectors.insert("b".to_owned(), of_rows);
        for (names, space, n) in [(method.vectors, Space::Columns, columns), (method.row_vectors, of_rows, rows)] {
            for name in names.split_whitespace() {
                vectors.insert(name.to_owned(), space);
                arrays.insert(name.to_owned(), GpuArray::zeros(&ctx, &of_all(n), vector, Order::C)?);
            }
        }
        for (name, diagonal) in system.applications(vector)?.1 {
            vectors.insert(name.clone(), Space::Columns);
            arrays.insert(name, diagonal);
        }
        let numbers = options.numbers(vector);
        let scalars = COMMON_SCALARS.map(|name| (name.to_owned(), Kind::Real)).to_vec();
        let names = Names {
            vectors,
            parameters: numbers.keys().cloned().collect(),
            scalars,
            is_complex: vector.is_complex(),
            sums: Vec::new(),
            definitions: HashMap::new(),
        };
        // What is counted may be cycles of so many iterations.
        let turns = if method.basis == Basis::None { 1 } else { options.restart };
        let capacity = options.max_iterations.saturating_mul(turns).saturating_add(1).min(MAX_HISTORY);
        let shape_of_history = of_all(capacity);
        let history = options.history.then(|| GpuArray::empty(&ctx, &shape_of_history, DType::F64, Order::C));
        let history = history.transpose()?;
        let parts = BTreeMap::new();
        Ok(Self { ctx, system, vector, shape, rows: count, names, numbers, arrays, parts, history, kept: Vec::new() })
    }

    /// A fresh state for each right-hand side.
    pub(super) fn new_state(&self, len: usize) -> Result<GpuArray> {
        GpuArray::zeros(&self.ctx, &[self.count() * len], DType::F64, Order::C)
    }

    fn count(&self) -> usize {
        self.rows.unwrap_or(1)
    }

    /// A vector of as many elements as the solution.
    pub(super) fn add_vector(&mut self, name: &str, array: GpuArray) {
        self.names.vectors.insert(name.to_owned(), Space::Columns);
        self.arrays.insert(name.to_owned(), array);
    }

    pub(super) fn array(&self, name: &str) -> Result<&GpuArray> {
        self.arrays.get(name).ok_or_else(|| ArrayError::value_error(format!("a solver has no vector '{name}'")))
    }

    /// A parameter of programs.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.numbers.get(name).copied().unwrap_or(0.0)
    }

    /// The launches of a solver, with what they need.
    pub(super) fn finish(
        self,
        layout: StateLayout,
        [state, end_state]: [GpuArray; 2],
        [begin, iteration, end]: [Vec<SolverStep<'a>>; 3],
    ) -> Launches<'a> {
        let count = self.count();
        let Self { ctx, arrays, history, mut kept, .. } = self;
        let x = arrays["x"].clone();
        kept.extend(arrays.into_values());
        Launches { ctx, x, history, count, layout, state, end_state, begin, iteration, end, _kept: kept }
    }

    /// Launches of steps whose first kernel reads the state `first` and whose last one writes the state `last`.
    pub(super) fn launches(
        &mut self,
        steps: &[Step],
        first: &GpuArray,
        last: &GpuArray,
        gated: bool,
        len: usize,
    ) -> Result<Vec<SolverStep<'a>>> {
        let fused = self.fused_products(steps)?;
        let is_kernel = |(k, step): &(usize, &Step)| matches!(step, Step::Kernel(_)) && !fused.contains_key(k);
        let mut left = steps.iter().enumerate().filter(is_kernel).count();
        if left < 2 && first.first_element_address() == last.first_element_address() {
            return Err(ArrayError::value_error("a solver's program has fewer than two kernels"));
        }
        let (mut input, mut launches) = (first.clone(), Vec::new());
        for (k, step) in steps.iter().enumerate() {
            match step {
                Step::Apply { .. } if fused.contains_key(&(k + 1)) => {}
                Step::Apply { operator, x, y } => {
                    let starts = operator == "A" && x == "x" && !gated;
                    self.apply(operator, x, y, starts, &mut launches)?;
                }
                Step::Kernel(_) if let Some(sum) = fused.get(&k) => {
                    let Step::Apply { x, y, .. } = &steps[k - 1] else { continue };
                    launches.extend(self.product_with_dot(x, y, *sum, &input)?.into_iter().map(SolverStep::Kernel));
                }
                Step::Kernel(kernel) => {
                    left -= 1;
                    let output = match left {
                        0 => last.clone(),
                        _ => self.new_state(len)?,
                    };
                    launches.push(SolverStep::Kernel(self.kernel(kernel, &input, &output, gated)?));
                    self.kept.push(std::mem::replace(&mut input, output));
                }
            }
        }
        Ok(launches)
    }

    /// `y = operator x`: launches where the operator has them.
    fn apply(&self, operator: &str, x: &str, y: &str, starts: bool, launches: &mut Vec<SolverStep<'a>>) -> Result<()> {
        let system: &'a System<'a> = self.system;
        let operator = system.operator(operator)?;
        let (x, y) = (self.arrays[x].clone(), self.arrays[y].clone());
        // Several vectors are a product with a dense matrix.
        let made = if self.rows.is_some() { None } else { operator.launches(&x, &y)? };
        match made {
            Some(made) => {
                launches.extend(made.into_iter().map(if starts { SolverStep::Start } else { SolverStep::Kernel }))
            }
            None => launches.push(SolverStep::Apply { operator, x, y, starts }),
        }
        Ok(())
    }

    /// Kernels that add up nothing but `conj(x) . y` behind `y = A x` of compressed rows, with the number of the sum:
    /// the product does that too.
    fn fused_products(&self, steps: &[Step]) -> Result<BTreeMap<usize, usize>> {
        let mut found = BTreeMap::new();
        let has_dot = self.system.a.as_csr().is_some_and(|csr| csr.dot_blocks(1).is_some());
        let has_dot = has_dot && self.rows.is_none();
        for (k, pair) in steps.windows(2).enumerate() {
            let [Step::Apply { operator, x, y }, Step::Kernel(kernel)] = pair else { continue };
            if let ([], [BodyStep::Dot { sum, left, right }]) = (kernel.scalars.as_slice(), kernel.body.as_slice())
                && has_dot
                && operator == "A"
                && *left == super::expression::Expr::name(x.as_str())
                && *right == super::expression::Expr::name(y.as_str())
            {
                found.insert(k + 1, *sum);
            }
        }
        Ok(found)
    }

    fn product_with_dot(&mut self, x: &str, y: &str, sum: usize, state: &GpuArray) -> Result<Vec<Launch>> {
        let found = self.system.a.as_csr().map(|csr| (csr, csr.dot_blocks(self.row_blocks())));
        let Some((csr, Some(blocks))) = found else {
            return Err(ArrayError::value_error("A is no matrix in compressed rows"));
        };
        let parts = self.new_parts(sum, blocks)?;
        let (x, y) = (&self.arrays[x], &self.arrays[y]);
        csr.row_launches(SpmvEpilogue::StoreAndDot, x, y, Some([&parts.array, state]))
    }

    /// The most blocks for groups of lanes that have rows.
    fn row_blocks(&self) -> u32 {
        let device_info = self.ctx.device_info();
        if device_info.is_simd_cpu() { self.blocks(self.shape[0]) } else { device_info.resident_blocks().max(1) as u32 }
    }

    /// Blocks for `n` elements: those that the device runs at once. Each adds up parts of sums at its beginning and its
    /// end, which on a SIMD CPU costs as much as many elements do.
    pub(super) fn blocks(&self, n: usize) -> u32 {
        let device_info = self.ctx.device_info();
        let elements = THREADS as usize * if device_info.is_simd_cpu() { 8 } else { 1 };
        n.div_ceil(elements).clamp(1, device_info.resident_blocks().max(1)) as u32
    }

    fn new_parts(&mut self, sum: usize, count: u32) -> Result<Parts> {
        let dtype = if self.names.sums[sum] == Kind::Scalar { sum_dtype(self.vector) } else { DType::F64 };
        let array = GpuArray::empty(&self.ctx, &[self.count() * count as usize], dtype, Order::C)?;
        let parts = Parts { array, count };
        self.kept.push(parts.array.clone());
        self.parts.insert(sum, parts.clone());
        Ok(parts)
    }

    fn kernel(&mut self, kernel: &FusedKernel, input: &GpuArray, output: &GpuArray, gated: bool) -> Result<Launch> {
        let n = match kernel.space {
            _ if kernel.body.is_empty() => 0,
            Some(Space::Rows) => self.shape[0],
            _ => self.shape[1],
        };
        let blocks = self.blocks(n);
        let parameters = Parameters::from_kernel(kernel, &self.names);
        let mut args = array_args(&[input, output])?;
        args.push_i64(n as i64);
        for name in &parameters.vectors {
            push_arrays(&mut args, &[&self.arrays[name]])?;
        }
        for sum in &parameters.sums_in {
            let parts = &self.parts[sum];
            push_arrays(&mut args, &[&parts.array])?;
            args.push_u32(parts.count);
        }
        for &sum in &parameters.sums_out {
            let parts = self.new_parts(sum, blocks)?;
            push_arrays(&mut args, &[&parts.array])?;
        }
        for name in &parameters.numbers {
            args.push(&self.numbers[name.as_str()].to_ne_bytes(), 8);
        }
        if parameters.records {
            match &self.history {
                Some(history) => {
                    push_arrays(&mut args, &[history])?;
                    args.push_i64((history.size() / self.count().max(1)) as i64);
                }
                None => [0, 0].iter().for_each(|&none| args.push_i64(none)),
            }
        }
        let spec = print(kernel, &self.names, self.vector, gated, self.rows.is_some())?;
        self.ctx.prepare_launch(&spec, [blocks, self.count() as u32, 1], [THREADS, 1, 1], args)
    }
}
