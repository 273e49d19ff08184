//! Generalised minimal residuals (Saad and Schultz 1986) with restarts.
//!
//! What is enqueued at once is a cycle: as many steps as there are vectors of the basis, and the solution that follows.
//! A step makes its vector orthogonal to the basis by two passes of classical Gram-Schmidt, whose products with all
//! vectors of the basis are one kernel, and turns the column of coefficients by Givens rotations on the device. Steps do
//! nothing once the estimate of the residual is small enough; the residual itself is computed at the end of a cycle, as
//! SciPy does it.

use super::SolveOptions;
use super::fusion::{Application, fuse};
use super::gmres_kernels::{GmresSpec, GmresStep, StatePlaces};
use super::kernel::state_layout;
use super::launches::{Builder, Launch, Launches};
use super::methods::Method;
use super::program::parse;
use super::state_reader::StateLayout;
use super::system::System;
use crate::kernels::THREADS;
use crate::kernels::elements::sum_dtype;
use crate::launch::{PreparedLaunch, push_arrays};
use crate::{ArrayError, GpuArray, Result};
use rtcg_array::{DType, Index, Order, PackedKernelArgs};

/// The vectors and the beginning; steps and cycles are launches of this file.
pub(super) const METHOD: Method = Method {
    name: "gmres",
    vectors: "q r z mb av t w",
    row_vectors: "",
    begin: "\
        q = A x
        r = b - q
        bb = norm2(b)
        rr = norm2(r)
        mb = M b
        mbb = norm2(mb)
        z = M r
        zz = norm2(z)
        threshold = max(atol, rtol * sqrt(bb))
        begin sqrt(rr)
        stop if bb == 0
        factor = 1
        presid = 0
        outer = 0
        column = 0
        inner = 0
        ptol = sqrt(mbb) * min(1, threshold / sqrt(bb))
        beta = sqrt(zz)
        v0 = z / beta",
    iteration: "\
        q = A x
        r = b - q
        rr = norm2(r)
        z = M r
        zz = norm2(z)
        outer = outer + 1
        residual = sqrt(rr)
        stop if residual <= threshold
        fail -1 if !finite(residual)
        fail -12 if inner == 2
        stop = select(stop == 0 && outer >= maxiter, 3, stop)
        factor = select(inner == 1, max(eps, factor / 4), min(1, 3 * factor / 2))
        ptol = presid * min(factor, threshold / residual)
        beta = sqrt(zz)
        column = 0
        inner = 0
        v0 = z / beta",
    end: "\
        q = A x
        r = b - q
        residual = sqrt(norm2(r))",
};

/// Arrays of a cycle beside vectors.
struct Tables {
    basis: GpuArray,
    /// The triangle, column by column; rotations; the right side; coefficients of the solution.
    triangle: GpuArray,
    rotations: GpuArray,
    right: GpuArray,
    coefficients: GpuArray,
    /// Coefficients of both passes, and parts of them by blocks.
    passes: [GpuArray; 2],
    parts: GpuArray,
    norms: [GpuArray; 2],
}

impl Tables {
    fn new(b: &Builder<'_>, n: usize, restart: usize, blocks: usize) -> Result<Self> {
        let sum = sum_dtype(b.vector);
        let new = |shape: &[usize], dtype| GpuArray::empty(&b.ctx, shape, dtype, Order::C);
        Ok(Self {
            basis: new(&[restart + 1, n], b.vector)?,
            triangle: new(&[restart, restart + 1], sum)?,
            rotations: new(&[restart, 2], sum)?,
            right: new(&[restart + 1], sum)?,
            coefficients: new(&[restart], sum)?,
            passes: [new(&[restart], sum)?, new(&[restart], sum)?],
            parts: new(&[restart, blocks], sum)?,
            norms: [new(&[blocks], DType::F64)?, new(&[blocks], DType::F64)?],
        })
    }

    fn arrays(self) -> Vec<GpuArray> {
        let [first, second] = self.passes;
        let [before, after] = self.norms;
        let others = [self.basis, self.triangle, self.rotations, self.right, self.coefficients, self.parts];
        others.into_iter().chain([first, second, before, after]).collect()
    }
}

/// The launches of a cycle of `restart` steps.
pub(super) fn launches<'a>(
    system: &'a System<'a>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
) -> Result<Launches<'a>> {
    let n = b.size();
    let restart = options.restart.clamp(1, n.max(1));
    let mut builder = Builder::new(&METHOD, system, b, x0, options)?;
    let blocks = n.div_ceil(THREADS as usize).clamp(1, builder.max_blocks() as usize) as u32;
    let tables = Tables::new(&builder, n, restart, blocks as usize)?;
    for k in 0..=restart {
        builder.add_vector(&format!("v{k}"), tables.basis.index(&[Index::At(k as isize)])?);
    }
    let (applications, _) = system.applications(b.dtype())?;
    let begin = fuse(&mut builder.names, &parse(METHOD.begin)?, &applications)?;
    let step = match applications.get("M") {
        Some(Application::Identity) => "w = A V",
        Some(Application::Diagonal(..)) => "av = A V\nt = M av\nw = t",
        _ => "av = A V\nw = M av",
    };
    let steps = (0..restart)
        .map(|k| fuse(&mut builder.names, &parse(&step.replace('V', &format!("v{k}")))?, &applications))
        .collect::<Result<Vec<_>>>()?;
    let tail = fuse(&mut builder.names, &parse(METHOD.iteration)?, &applications)?;
    let end = fuse(&mut builder.names, &parse(METHOD.end)?, &applications)?;
    let (places, len) = state_layout(&builder.names);
    let layout = StateLayout { places, len };
    let (state, end_state) = (builder.new_state(len)?, builder.new_state(len)?);
    let begin = builder.launches(&begin, &state, &state, false, len)?;
    let mut cycle = Cycle { tables: &tables, places: StatePlaces::of(&layout)?, n, blocks, launches: Vec::new() };
    let mut input = state.clone();
    for (k, step) in steps.iter().enumerate() {
        let between = builder.new_state(len)?;
        let made = builder.launches(step, &input, &between, true, len)?;
        if made.iter().any(|launch| matches!(launch, Launch::Kernel(_))) {
            builder.kept.push(std::mem::replace(&mut input, between));
        }
        cycle.launches.extend(made);
        let output = builder.new_state(len)?;
        cycle.add_step(&builder, k, &input, &output)?;
        builder.kept.push(std::mem::replace(&mut input, output));
    }
    cycle.add_solution(&builder, &input)?;
    cycle.launches.extend(builder.launches(&tail, &input, &state, true, len)?);
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
    launches: Vec<Launch<'a>>,
}

impl Cycle<'_, '_> {
    fn push(&mut self, b: &Builder<'_>, step: GmresStep, blocks: u32, args: PackedKernelArgs) -> Result<()> {
        let spec = GmresSpec { vector: b.vector, step, places: self.places };
        self.launches.push(Launch::Kernel(PreparedLaunch::new(&b.ctx, &spec, blocks, args)?));
        Ok(())
    }

    /// Step `k`: both passes of Gram-Schmidt, the norm, and the rotations.
    fn add_step(&mut self, b: &Builder<'_>, k: usize, input: &GpuArray, output: &GpuArray) -> Result<()> {
        let t = self.tables;
        let columns = k as u32 + 1;
        let w = b.array("w")?;
        let [first, second] = &t.passes;
        let [before, after] = &t.norms;
        // Without coefficients there is nothing to subtract, and without parts nothing to project on.
        for (h, parts, norms, sums) in [
            (None, Some(&t.parts), Some(before), Some(first)),
            (Some(first), Some(&t.parts), None, Some(second)),
            (Some(second), None, Some(after), None),
        ] {
            let mut args = PackedKernelArgs::new();
            push_arrays(&mut args, &[input, w, &t.basis])?;
            for array in [h, parts, norms] {
                push_optional(&mut args, array)?;
            }
            args.push_i64(self.n as i64);
            args.push_u32(columns);
            self.push(b, GmresStep::Project, self.blocks, args)?;
            let Some(sums) = sums else { continue };
            let mut args = PackedKernelArgs::new();
            push_arrays(&mut args, &[input, sums, &t.parts])?;
            args.push_u32(self.blocks);
            self.push(b, GmresStep::Sum, columns, args)?;
        }
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[input, output, w, b.array(&format!("v{}", k + 1))?])?;
        push_arrays(&mut args, &[first, second, before, after, &t.triangle, &t.rotations, &t.right])?;
        args.push_u32(self.blocks);
        args.push_i64(self.n as i64);
        args.push_u32(k as u32);
        args.push_u32(t.coefficients.size() as u32);
        args.push(&b.number("eps").to_ne_bytes(), 8);
        push_optional(&mut args, b.history.as_ref())?;
        args.push_i64(b.history.as_ref().map_or(0, GpuArray::size) as i64);
        self.push(b, GmresStep::Rotate, self.blocks, args)
    }

    /// The coefficients, and the solution that they make.
    fn add_solution(&mut self, b: &Builder<'_>, input: &GpuArray) -> Result<()> {
        let t = self.tables;
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[input, &t.triangle, &t.right, &t.coefficients])?;
        args.push_u32(t.coefficients.size() as u32);
        self.push(b, GmresStep::Solve, 1, args)?;
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[input, b.array("x")?, &t.basis, &t.coefficients])?;
        args.push_i64(self.n as i64);
        self.push(b, GmresStep::Combine, self.blocks, args)
    }
}

/// An address that may be null.
fn push_optional(args: &mut PackedKernelArgs, array: Option<&GpuArray>) -> Result<()> {
    match array {
        Some(array) => push_arrays(args, &[array]),
        None => {
            args.push_u64(0);
            Ok(())
        }
    }
}

impl StatePlaces {
    fn of(layout: &StateLayout) -> Result<Self> {
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
        })
    }
}
