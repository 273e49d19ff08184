//! Solvers that keep a basis: GMRES, generalised minimal residuals (Saad and Schultz 1986) with restarts, its flexible
//! form (Saad 1993), and GCROT(m, k) (Hicken and Zingg 2010).
//!
//! A whole cycle is enqueued at once: as many steps as the basis has vectors, and the resulting solution. A step
//! orthogonalises its vector against the basis by two passes of classical Gram-Schmidt, whose products with all basis
//! vectors are one kernel, and applies Givens rotations to the column of coefficients on the device. Steps do nothing
//! once the estimated residual is small enough; the residual itself is computed at the end of a cycle, as in SciPy.
//!
//! A flexible solver keeps the preconditioned vectors, from which it forms the solution. GCROT keeps `k` directions `u`
//! of earlier cycles with orthonormal images `c = A u`. The images precede the basis in one array, so that the same
//! products make a step orthogonal to both; missing images are zeros. The minimal residual over the cycle and all `u`
//! has the coefficients of the triangular system for the cycle, from which those for each `u` follow.

use super::SolveOptions;
use super::fusion::{Application, Step, fuse};
use super::gmres_kernels::{GmresSpec, GmresStep, StatePlaces};
use super::kernel::state_layout;
use super::launches::{Builder, Launches, SolverStep};
use super::method::{Basis, Method};
use super::program::parse_parts;
use super::state_reader::StateLayout;
use super::system::System;
use crate::kernels::elements::sum_dtype;
use crate::launch::prepare_launch;
use rtcg_array::{GpuArray, Index, Order, array_args, push_arrays, push_optional};
use rtcg_hal::{ArrayError, DType, LaunchArgs, Result};

/// Arrays of a cycle beside vectors.
struct Tables {
    /// Directions that are kept, and their images.
    directions: Option<[GpuArray; 2]>,
    /// The basis, whatever stands before it included, and the vectors that the solution is made of.
    basis: GpuArray,
    solution_basis: Option<GpuArray>,
    /// The triangle, column by column; rotations; the right side; coefficients of the solution.
    triangle: GpuArray,
    rotations: GpuArray,
    right: GpuArray,
    coefficients: GpuArray,
    /// Products of images and steps, step by step.
    coupling: GpuArray,
    /// Coefficients of both passes, and parts of them by blocks.
    passes: [GpuArray; 2],
    parts: GpuArray,
    norms: [GpuArray; 2],
    kept: usize,
}

impl Tables {
    fn new(b: &Builder<'_>, [n, restart, kept, blocks]: [usize; 4], has_solution_basis: bool) -> Result<Self> {
        let sum = sum_dtype(b.vector);
        let new = |shape: &[usize], dtype| GpuArray::empty(&b.ctx, shape, dtype, Order::C);
        let zeros = |rows| GpuArray::zeros(&b.ctx, &[rows, n], b.vector, Order::C);
        let whole = zeros(kept + restart + 1)?;
        let images = whole.index(&[Index::Slice(Some(0), Some(kept as isize), None)])?;
        let directions = if kept > 0 { Some([zeros(kept)?, images]) } else { None };
        Ok(Self {
            directions,
            basis: whole,
            solution_basis: if has_solution_basis { Some(zeros(restart)?) } else { None },
            triangle: new(&[restart, restart + 1], sum)?,
            rotations: new(&[restart, 2], sum)?,
            right: new(&[restart + 1], sum)?,
            coefficients: new(&[restart + kept], sum)?,
            coupling: new(&[restart, kept.max(1)], sum)?,
            passes: [new(&[kept + restart], sum)?, new(&[kept + restart], sum)?],
            parts: new(&[kept + restart, blocks], sum)?,
            norms: [new(&[blocks], DType::F64)?, new(&[blocks], DType::F64)?],
            kept,
        })
    }

    fn arrays(self) -> Vec<GpuArray> {
        let [first, second] = self.passes;
        let [before, after] = self.norms;
        let others = [self.basis, self.triangle, self.rotations, self.right, self.coefficients, self.coupling];
        let optional = self.directions.into_iter().flatten().chain(self.solution_basis);
        others.into_iter().chain(optional).chain([self.parts, first, second, before, after]).collect()
    }
}

/// A step's line, by where the preconditioner stands and what it is. `V` is the vector of the basis and `Z` the one that
/// the solution is made of; a preconditioner that is none makes them one vector.
fn step_text(basis: Basis, m: Option<&Application>) -> &'static str {
    match (basis, m) {
        (_, Some(Application::Identity)) => "w = A V",
        (Basis::Left, Some(Application::Diagonal(..))) => "av = A V\nt = M av\nw = t",
        (Basis::Left, _) => "av = A V\nw = M av",
        _ => "Z = M V\nw = A Z",
    }
}

/// The launches of a cycle of `restart` steps.
pub(super) fn launches<'a>(
    method: &Method,
    system: &'a System<'a>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
) -> Result<Launches<'a>> {
    let n = b.size();
    let restart = options.restart.clamp(1, n.max(1));
    let kept = if method.basis == Basis::Recycling { options.kept_directions } else { 0 };
    let mut builder = Builder::new(method, system, b, x0, options)?;
    let blocks = builder.blocks(n);
    let (applications, _) = system.applications(b.dtype())?;
    let is_preconditioned = applications.get("M") != Some(&Application::Identity);
    let has_solution_basis = is_preconditioned && method.basis != Basis::Left;
    let tables = Tables::new(&builder, [n, restart, kept, blocks as usize], has_solution_basis)?;
    for k in 0..=restart {
        builder.add_vector(&format!("v{k}"), tables.basis.index(&[Index::At((kept + k) as isize)])?);
    }
    for k in 0..restart {
        let Some(vectors) = &tables.solution_basis else { break };
        builder.add_vector(&format!("z{k}"), vectors.index(&[Index::At(k as isize)])?);
    }
    let begin = fuse(&mut builder.names, &parse_parts(method.begin)?, &applications)?;
    let step = step_text(method.basis, applications.get("M"));
    let steps = (0..restart)
        .map(|k| {
            let text = step.replace('V', &format!("v{k}")).replace('Z', &format!("z{k}"));
            fuse(&mut builder.names, &parse_parts(&[&text])?, &applications)
        })
        .collect::<Result<Vec<_>>>()?;
    let tail = fuse(&mut builder.names, &parse_parts(method.iteration)?, &applications)?;
    let end = fuse(&mut builder.names, &parse_parts(method.end)?, &applications)?;
    let (places, len) = state_layout(&builder.names);
    let layout = StateLayout { places, len };
    let (state, end_state) = (builder.new_state(len)?, builder.new_state(len)?);
    let begin = builder.launches(&begin, &state, &state, false, len)?;
    let mut cycle =
        Cycle { tables: &tables, places: StatePlaces::from_layout(&layout)?, n, blocks, launches: Vec::new() };
    let mut input = state.clone();
    for (k, step) in steps.iter().enumerate() {
        let between = builder.new_state(len)?;
        cycle.launches.extend(builder.launches(step, &input, &between, true, len)?);
        if step.iter().any(|step| matches!(step, Step::Kernel(_))) {
            builder.kept.push(std::mem::replace(&mut input, between));
        }
        let output = builder.new_state(len)?;
        cycle.add_step(&builder, k, &input, &output)?;
        builder.kept.push(std::mem::replace(&mut input, output));
    }
    cycle.add_solution(&builder, &input)?;
    cycle.launches.extend(builder.launches(&tail, &input, &state, true, len)?);
    cycle.add_direction(&builder, &state)?;
    let iteration = cycle.launches;
    let end = builder.launches(&end, &state, &end_state, false, len)?;
    builder.kept.push(input);
    builder.kept.extend(tables.arrays());
    Ok(builder.finish(layout, [state, end_state], [begin, iteration, end]))
}

/// The launches of a cycle, as they are made.
struct Cycle<'a, 't> {
    tables: &'t Tables,
    places: StatePlaces,
    n: usize,
    blocks: u32,
    launches: Vec<SolverStep<'a>>,
}

impl Cycle<'_, '_> {
    fn push(&mut self, b: &Builder<'_>, step: GmresStep, blocks: u32, args: LaunchArgs) -> Result<()> {
        let spec = GmresSpec { vector: b.vector, step, places: self.places };
        self.launches.push(SolverStep::Kernel(prepare_launch(&b.ctx, &spec, blocks, args)?));
        Ok(())
    }

    /// Step `k`: both passes of Gram-Schmidt, the norm, and the rotations.
    fn add_step(&mut self, b: &Builder<'_>, k: usize, input: &GpuArray, output: &GpuArray) -> Result<()> {
        let t = self.tables;
        let columns = (t.kept + k) as u32 + 1;
        let w = b.array("w")?;
        let [first, second] = &t.passes;
        let [before, after] = &t.norms;
        // Without coefficients there is nothing to subtract, and without parts nothing to project on.
        for (h, parts, norms, sums) in [
            (None, Some(&t.parts), Some(before), Some(first)),
            (Some(first), Some(&t.parts), None, Some(second)),
            (Some(second), None, Some(after), None),
        ] {
            let mut args = array_args(&[input, w, &t.basis])?;
            for array in [h, parts, norms] {
                push_optional(&mut args, array)?;
            }
            args.push_i64(self.n as i64);
            args.push_u32(columns);
            self.push(b, GmresStep::Project, self.blocks, args)?;
            let Some(sums) = sums else { continue };
            let mut args = array_args(&[input, sums, &t.parts])?;
            args.push_u32(self.blocks);
            self.push(b, GmresStep::Sum, columns, args)?;
        }
        let mut args = array_args(&[input, output, w, b.array(&format!("v{}", k + 1))?])?;
        push_arrays(&mut args, &[first, second, before, after, &t.triangle, &t.rotations, &t.right, &t.coupling])?;
        args.push_u32(self.blocks);
        args.push_i64(self.n as i64);
        args.push_u32(k as u32);
        args.push_u32(t.right.size() as u32 - 1);
        args.push_u32(t.kept as u32);
        args.push(&b.number("eps").to_ne_bytes(), 8);
        args.push(&b.number("maxinner").to_ne_bytes(), 8);
        push_optional(&mut args, b.history.as_ref())?;
        args.push_i64(b.history.as_ref().map_or(0, GpuArray::size) as i64);
        self.push(b, GmresStep::Rotate, self.blocks, args)
    }

    /// The coefficients, and the solution that they make.
    fn add_solution(&mut self, b: &Builder<'_>, input: &GpuArray) -> Result<()> {
        let t = self.tables;
        let [restart, kept] = [t.right.size() as u32 - 1, t.kept as u32];
        let mut args = array_args(&[input, &t.triangle, &t.right, &t.coupling, &t.coefficients])?;
        args.push_u32(restart);
        args.push_u32(kept);
        self.push(b, GmresStep::Solve, 1, args)?;
        let mut args = LaunchArgs::new();
        let vectors = match &t.solution_basis {
            Some(vectors) => vectors.clone(),
            None => b.array("v0")?.clone(),
        };
        push_arrays(&mut args, &[input, b.array("x")?, &vectors, &t.coefficients])?;
        push_optional(&mut args, t.directions.as_ref().map(|[directions, _]| directions))?;
        push_optional(&mut args, t.directions.as_ref().map(|_| b.array("dx")).transpose()?)?;
        args.push_u32(restart);
        args.push_u32(kept);
        args.push_i64(self.n as i64);
        self.push(b, GmresStep::Combine, self.blocks, args)
    }

    /// What the cycle added to the solution, in the place of the oldest direction.
    fn add_direction(&mut self, b: &Builder<'_>, state: &GpuArray) -> Result<()> {
        let Some([directions, images]) = &self.tables.directions else { return Ok(()) };
        let mut args = array_args(&[state, directions, images, b.array("dx")?, b.array("image")?])?;
        args.push_u32(self.tables.kept as u32);
        args.push_i64(self.n as i64);
        self.push(b, GmresStep::Keep, self.blocks, args)
    }
}

impl StatePlaces {
    fn from_layout(layout: &StateLayout) -> Result<Self> {
        let place = |name: &str| {
            let found = layout.places.get(name).copied();
            found.ok_or_else(|| ArrayError::value_error(format!("the state of gmres has no '{name}'")))
        };
        Ok(Self {
            len: layout.len,
            iterations: place("iterations")?,
            residual: place("residual")?,
            beta: place("beta")?,
            presid: place("presid")?,
            ptol: place("ptol")?,
            column: place("column")?,
            inner: place("inner")?,
            outer: place("outer")?,
            length: layout.places.get("length").copied().unwrap_or(0),
        })
    }
}
