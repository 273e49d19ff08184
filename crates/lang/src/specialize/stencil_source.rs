//! The kernels of stencils.
//!
//! A block computes a box of elements. `direct` reads fields from memory; elements whose neighbours are all inside take
//! a path without tests. `tile` first copies the box and its halo to shared memory, where it may do several steps: the
//! box shrinks by the radius with each, so that halos are computed again by each block. All variants compute an element
//! by the same operations, so their results are equal bit for bit.
//!
//! Parameters of a kernel: the outputs, the fields, the lengths of the axes (int64), the scalars.

use super::roll_taps::{RolledTaps, roll_taps};
use super::stencil::{Boundary, Halo, StencilModel};
use super::stencil_choice::{StencilChoice, StencilProblem};
use crate::emit::kernels::{VALUE, fields_of, value_of, value_struct};
use crate::emit::numbers::{c_name, c_type, literal};
use crate::emit::writer::{Parameters, Writer};
use crate::emit::{AllOnHost, Input};
use crate::ir::Number;
use crate::problem::Problem;
use rtcg_hal::{DType, DTypeKind, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Shared memory that every device has for a block without asking.
const MAX_TILE_BYTES: usize = 48 << 10;

/// The most blocks; each computes several boxes if there are more.
const MAX_BLOCKS: u64 = 1 << 30;

const NAME: &str = "rtcg_stencil";

/// A kernel of a stencil.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StencilKernel {
    source: Arc<str>,
}

impl KernelSpec for StencilKernel {
    fn kernel_name(&self) -> Cow<'static, str> {
        NAME.into()
    }

    fn source(&self) -> String {
        self.source.to_string()
    }
}

/// What a kernel is made for besides the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StencilLaunch {
    /// What lies beyond the borders.
    pub boundary: Boundary,
    /// What elements near borders become that are not computed.
    pub halo: Halo,
    /// The number beyond the borders, for [`Boundary::Constant`].
    pub constant: Number,
    /// The variant.
    pub choice: StencilChoice,
    /// Whether flat indices fit in 32 bits.
    pub is_small: bool,
}

impl StencilModel {
    /// What decides about the variant.
    pub fn problem(&self, shape: &[usize], iterated: bool) -> StencilProblem {
        StencilProblem {
            axes: self.n_axes as i64,
            radius: self.radius.iter().map(|(low, high)| *low.max(high)).max().unwrap_or(0),
            taps: self.fields.iter().map(|field| field.offsets.len() as i64).sum(),
            bytes: self.fields.iter().map(|field| field.dtype.itemsize() as i64).sum(),
            size: shape.iter().product::<usize>() as i64,
            last: shape.last().copied().unwrap_or(1) as i64,
            iterated,
        }
    }

    /// Why results cannot become fields again; `None` if they can.
    pub fn not_iterable(&self) -> Option<String> {
        if self.outputs.len() > self.fields.len() {
            let (n, of) = (self.outputs.len(), self.fields.len());
            return Some(format!("there are {n} results and {of} field(s): each result becomes a field"));
        }
        let unequal = self.outputs.iter().zip(&self.fields).position(|(out, field)| *out != field.dtype)?;
        let (out, field) = (self.outputs[unequal], self.fields[unequal].dtype);
        Some(format!("result {} has dtype {}, its field {}", unequal + 1, out.name(), field.name()))
    }

    /// The choice as near as the model and the shared memory allow.
    pub fn possible(&self, choice: StencilChoice, boundary: Boundary) -> StencilChoice {
        let mut choice = choice;
        let is_centred = self.radius.iter().all(|radius| *radius == (0, 0));
        loop {
            let steps = choice.steps as usize;
            let tile = self.tile(&choice);
            // A mirrored element of the halo has to be in the same tile.
            let halo_fits = |axis: usize| (self.radius[axis].0.max(self.radius[axis].1) as usize) * steps <= tile[axis];
            let is_possible = steps == 1
                || self.not_iterable().is_none() && (boundary != Boundary::Reflect || (0..self.n_axes).all(halo_fits));
            let bytes = self.tile_bytes(&choice).iter().map(|(_, bytes)| bytes).sum::<usize>();
            if choice.kernel != "tile" {
                return StencilChoice { steps: 1, ..choice };
            }
            if is_possible && bytes <= MAX_TILE_BYTES && !(is_centred && steps == 1) {
                return choice;
            }
            match choice {
                StencilChoice { steps, .. } if steps > 1 => choice.steps = if is_possible { steps / 2 } else { 1 },
                StencilChoice { items, .. } if items > 1 && !is_centred => choice.items /= 2,
                StencilChoice { rows, .. } if rows > 1 && !is_centred => choice.rows /= 2,
                _ => choice.kernel = "direct",
            }
        }
    }

    /// The box of elements that a block computes.
    fn tile(&self, choice: &StencilChoice) -> Vec<usize> {
        let [columns, rows, items] = [choice.columns, choice.rows, choice.items].map(|value| value as usize);
        let n = self.n_axes;
        let mut tile = vec![1; n];
        match n {
            1 => tile[0] = columns * rows * items,
            _ if choice.kernel == "direct" || n == 2 => {
                tile[n - 1] = columns;
                tile[n - 2] = rows * items;
            }
            _ => {
                tile[n - 1] = columns;
                tile[n - 2] = rows;
                tile[n - 3] = items;
            }
        }
        tile
    }

    /// The box with its halo.
    fn extent(&self, choice: &StencilChoice) -> Vec<usize> {
        let steps = choice.steps as usize;
        let halo = self.radius.iter().map(|(low, high)| (low + high) as usize * steps);
        self.tile(choice).iter().zip(halo).map(|(own, halo)| own + halo).collect()
    }

    /// The copies of fields in shared memory, with their bytes: the field, and two of it if it changes.
    fn tile_bytes(&self, choice: &StencilChoice) -> Vec<(usize, usize)> {
        let volume = self.extent(choice).iter().fold(1_usize, |volume, n| volume.saturating_mul(*n));
        let mut all = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            let copies = if choice.steps > 1 && at < self.outputs.len() { 2 } else { 1 };
            let bytes = volume.saturating_mul(field.dtype.itemsize()).next_multiple_of(16);
            all.extend(std::iter::repeat_n((at, bytes), copies));
        }
        all
    }

    /// The number of blocks, and of threads of each.
    pub fn geometry(&self, choice: &StencilChoice, shape: &[usize]) -> (u32, u32) {
        let boxes = shape.iter().zip(self.tile(choice)).map(|(n, own)| n.div_ceil(own) as u64).product::<u64>();
        (boxes.clamp(1, MAX_BLOCKS) as u32, (choice.columns * choice.rows) as u32)
    }

    /// The kernel.
    ///
    /// # Errors
    /// When the body has something that kernels cannot compute.
    pub fn kernel(&self, launch: &StencilLaunch) -> Result<StencilKernel, Box<Problem>> {
        let choice = self.possible(launch.choice, launch.boundary);
        let is_rolled = choice.kernel == "tile" && choice.steps == 1 && choice.adjacent > 1;
        let rolled = if is_rolled { roll_taps(self) } else { None };
        let program = rolled.as_ref().map_or(&self.program, |rolled| &rolled.program);
        let mut writer = Writer::new(program, &AllOnHost);
        let rolled = rolled.as_ref();
        let mut text = Text { model: self, launch, choice, rolled, out: String::new(), uses_indices: Vec::new() };
        match choice.kernel {
            "tile" => text.tile(&mut writer)?,
            _ => text.direct(&mut writer)?,
        }
        self.fields.iter().map(|field| field.dtype).chain(self.outputs.iter().copied()).for_each(|dtype| {
            writer.mention(dtype);
        });
        let index = if launch.is_small { "int" } else { "long long" };
        let source = format!(
            "{}typedef {index} rtcg_index;\n{}{}{}",
            writer.preamble(),
            border(launch.boundary),
            value_struct(&self.outputs),
            text.out
        );
        Ok(StencilKernel { source: source.into() })
    }
}

/// Where a place beyond a border lies on an axis of length n.
fn border(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::Clamp | Boundary::Constant | Boundary::Interior => {
            "__device__ __forceinline__ rtcg_index rtcg_border(rtcg_index p, rtcg_index n) { return p < 0 ? 0 : p >= n ? n - 1 : p; }\n"
        }
        Boundary::Wrap => {
            "__device__ __forceinline__ rtcg_index rtcg_border(rtcg_index p, rtcg_index n)\n{\n  \
             if (p >= 0 && p < n) return p;\n  p %= n;\n  return p < 0 ? p + n : p;\n}\n"
        }
        Boundary::Reflect => {
            "__device__ __forceinline__ rtcg_index rtcg_border(rtcg_index p, rtcg_index n)\n{\n  \
             if (p >= 0 && p < n) return p;\n  const long long period = 2 * (long long)n;\n  long long q = p % period;\n  \
             if (q < 0) q += period;\n  return (rtcg_index)(q < n ? q : period - 1 - q);\n}\n"
        }
    }
}

/// A number as one of a dtype, if the dtype has it.
pub fn number_of(number: Number, dtype: DType) -> Option<Number> {
    let number = match (number, dtype.kind()) {
        (Number::Int(value), DTypeKind::Bool) if value == 0 || value == 1 => Number::Bool(value == 1),
        (Number::Bool(value), DTypeKind::Signed | DTypeKind::Unsigned) => Number::Int(value.into()),
        (Number::Bool(value), DTypeKind::Float | DTypeKind::Complex) => Number::Float(value.into()),
        (Number::Float(value), DTypeKind::Signed | DTypeKind::Unsigned)
            if value.fract() == 0.0 && value.abs() < 1.0e18 =>
        {
            Number::Int(value as i128)
        }
        (Number::Float(value), DTypeKind::Bool) if value == 0.0 || value == 1.0 => Number::Bool(value == 1.0),
        (other, _) => other,
    };
    crate::check::holds(dtype, number).then_some(number)
}

/// The source that is written.
pub(super) struct Text<'a> {
    pub(super) model: &'a StencilModel,
    pub(super) launch: &'a StencilLaunch,
    pub(super) choice: StencilChoice,
    /// The body as loops over taps, where they are written as such.
    pub(super) rolled: Option<&'a RolledTaps>,
    pub(super) out: String,
    /// For each axis, whether the body uses the element's index.
    uses_indices: Vec<bool>,
}

impl<'a> Text<'a> {
    pub(super) fn each(&self, item: impl Fn(usize) -> String, between: &str) -> String {
        (0..self.model.n_axes).map(item).collect::<Vec<_>>().join(between)
    }

    pub(super) fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub(super) fn field_type(&self, at: usize) -> String {
        c_name(self.model.fields[at].dtype)
    }

    fn constant(&self, dtype: DType) -> String {
        literal(number_of(self.launch.constant, dtype).unwrap_or(Number::Int(0)), dtype)
    }

    /// A device function of an element, where reads are written by `read`; returns the parameters that it takes behind
    /// pointers and indices.
    fn function(
        &mut self,
        writer: &mut Writer<'a>,
        name: &str,
        more: &str,
        read: &dyn Fn(usize, &[i64]) -> String,
    ) -> Result<Parameters, Box<Problem>> {
        let model = self.model;
        let reads = model.fields.iter().enumerate().flat_map(|(at, field)| {
            field.offsets.iter().map(move |offsets| ((field.array, offsets.clone()), read(at, offsets)))
        });
        writer.relative = Some(reads.collect());
        let mut body = String::new();
        let indices: Vec<String> = model.indices.iter().map(|index| writer.declare(*index)).collect();
        let values = writer.block(&mut body, &model.body)?;
        self.uses_indices = model.indices.iter().map(|index| writer.is_mentioned(*index, &body, &values)).collect();
        let parameters = writer.parameters(false);
        let pointers = (0..model.fields.len())
            .map(|at| format!("const {} *f{at}", self.field_type(at)))
            .collect::<Vec<_>>()
            .join(", ");
        let mut text = format!("__device__ __forceinline__ {VALUE} {name}({pointers}{more}");
        for (name, _) in indices.iter().zip(&self.uses_indices).filter(|(_, used)| **used) {
            let _ = write!(text, ", long long {name}");
        }
        let _ = write!(text, "{})\n{{\n{body}  return {};\n}}", parameters.declared, value_of(&values));
        self.put(&text);
        Ok(parameters)
    }

    /// The element's indices as arguments.
    fn indices(&self) -> String {
        let used = (0..self.model.n_axes).filter(|axis| self.uses_indices[*axis]);
        used.map(|axis| format!(", (long long)g{axis}")).collect()
    }

    /// The head of the kernel, up to the loop over boxes, where `b0`, `b1`.. are the box's first indices.
    fn head(&mut self, writer: &Writer<'_>, tile: &[usize]) {
        let model = self.model;
        let mut parameters: Vec<String> = Vec::new();
        for (at, dtype) in model.outputs.iter().enumerate() {
            parameters.push(format!("{} *__restrict__ o{at}", c_name(*dtype)));
        }
        for at in 0..model.fields.len() {
            parameters.push(format!("const {} *__restrict__ f{at}", self.field_type(at)));
        }
        (0..model.n_axes).for_each(|axis| parameters.push(format!("long long length{axis}")));
        for scalar in &model.scalars {
            let dtype = model.program.var_type(*scalar).dtype;
            parameters.push(format!("{} s{}", c_type(dtype).name, scalar.0));
        }
        let threads = self.choice.columns * self.choice.rows;
        self.put(&format!(
            "extern \"C\" __global__ void __launch_bounds__({threads}) {NAME}({})\n{{",
            parameters.join(", ")
        ));
        self.put(&self.each(|axis| format!("  const rtcg_index n{axis} = (rtcg_index)length{axis};"), "\n"));
        for input in &writer.inputs {
            if let Input::Dim(array, axis) = input {
                self.put(&format!("  const long long d{}_{axis} = length{axis};", array.0));
            }
        }
        let last = model.n_axes - 1;
        for axis in (0..last).rev() {
            let next = if axis + 1 == last { format!("n{last}") } else { format!("s{}_ * n{}", axis + 1, axis + 1) };
            self.put(&format!("  const rtcg_index s{axis}_ = {next};"));
        }
        let boxes = |axis: usize| format!("((long long)n{axis} + {}) / {}", tile[axis] - 1, tile[axis]);
        self.put(&self.each(|axis| format!("  const long long t{axis} = {};", boxes(axis)), "\n"));
        let all = self.each(|axis| format!("t{axis}"), " * ");
        self.put(&format!(
            "  for (long long tile = blockIdx.x; tile < {all}; tile += gridDim.x) {{\n    long long rest = tile;"
        ));
        for axis in (0..model.n_axes).rev() {
            let place = if axis == 0 { "rest".to_owned() } else { format!("rest % t{axis}") };
            let next = if axis == 0 { String::new() } else { format!(" rest /= t{axis};") };
            self.put(&format!("    const rtcg_index b{axis} = (rtcg_index)({place} * {});{next}", tile[axis]));
        }
    }

    /// The flat index of the element `g0, g1..`.
    pub(super) fn flat(&self) -> String {
        let last = self.model.n_axes - 1;
        self.each(|axis| if axis == last { format!("g{axis}") } else { format!("g{axis} * s{axis}_") }, " + ")
    }

    /// Whether all that the element `g0, g1..` needs is inside; `more` further rows are looked at too.
    pub(super) fn is_inner(&self, more: usize) -> String {
        let row = self.model.n_axes.wrapping_sub(2);
        self.each(
            |axis| {
                let (low, high) = self.model.radius[axis];
                let high = high + if axis == row { more as i64 } else { 0 };
                format!("g{axis} >= {low} && g{axis} < n{axis} - {high}")
            },
            " && ",
        )
    }

    /// What an element near a border becomes that is not computed, from elements named by `element`.
    pub(super) fn halo_value(&self, output: usize, element: impl Fn(usize) -> String) -> String {
        let to = self.model.outputs[output];
        let at = if output < self.model.fields.len() { output } else { 0 };
        let from = self.model.fields[at].dtype;
        match self.launch.halo {
            Halo::Copy if from == to => element(at),
            Halo::Copy if !from.is_complex() || to.is_complex() => {
                format!("rt_cast<{}>(rt_load({}))", c_name(to), element(at))
            }
            _ => literal(number_of(Number::Int(0), to).unwrap_or(Number::Int(0)), to),
        }
    }

    // -- from memory ----------------------------------------------------------------------------

    fn direct(&mut self, writer: &mut Writer<'a>) -> Result<(), Box<Problem>> {
        let n = self.model.n_axes;
        let last = n - 1;
        let strides: String = (0..last).map(|axis| format!(", rtcg_index s{axis}_")).collect();
        let stride_arguments: String = (0..last).map(|axis| format!(", s{axis}_")).collect();
        let inner = self.function(writer, "rtcg_inner", &strides, &|field, offsets| {
            let mut place = String::new();
            for (axis, offset) in offsets.iter().enumerate().filter(|(_, offset)| **offset != 0) {
                let stride = if axis == last { String::new() } else { format!(" * s{axis}_") };
                let _ = write!(place, "{}({offset}){stride}", if place.is_empty() { "" } else { " + " });
            }
            format!("f{field}[{}]", if place.is_empty() { "0" } else { &place })
        })?;
        let has_edge = self.launch.boundary != Boundary::Interior;
        let lengths: String = (0..n).map(|axis| format!(", rtcg_index n{axis}")).collect();
        let length_arguments: String = (0..n).map(|axis| format!(", n{axis}")).collect();
        if has_edge {
            for at in 0..self.model.fields.len() {
                self.element_beyond(at, &lengths, &strides);
            }
            let own: String = (0..n).map(|axis| format!(", rtcg_index g{axis}")).collect();
            let passed = format!("{length_arguments}{stride_arguments}");
            self.function(writer, "rtcg_edge", &format!("{own}{lengths}{strides}"), &|field, offsets| {
                let place: String =
                    offsets.iter().enumerate().map(|(axis, offset)| format!(", g{axis} + ({offset})")).collect();
                format!("rtcg_at{field}(f{field}{place}{passed})")
            })?;
        }
        let tile = self.model.tile(&self.choice);
        self.head(writer, &tile);
        let items = self.choice.items as usize;
        let (columns, threads) = (self.choice.columns, self.choice.columns * self.choice.rows);
        if n == 1 {
            self.put("    const rtcg_index c0 = b0 + (rtcg_index)threadIdx.x;");
        } else {
            self.put(&format!("    const rtcg_index c{last} = b{last} + (rtcg_index)(threadIdx.x % {columns});"));
            self.put(&format!(
                "    const rtcg_index c{} = b{0} + (rtcg_index)(threadIdx.x / {columns}) * {items};",
                last - 1
            ));
            (0..last - 1).for_each(|axis| self.put(&format!("    const rtcg_index c{axis} = b{axis};")));
        }
        let item = |axis: usize| match (n, axis + 2 == n) {
            (1, _) => format!("      const rtcg_index g0 = c0 + k * {threads};"),
            (_, true) => format!("      const rtcg_index g{axis} = c{axis} + k;"),
            _ => format!("      const rtcg_index g{axis} = c{axis};"),
        };
        let items_head = format!(
            "      #pragma unroll\n      for (int k = 0; k < {items}; ++k) {{\n{}\n      const rtcg_index at = {};",
            self.each(item, "\n"),
            self.flat()
        );
        let pointers =
            |place: &str| (0..self.model.fields.len()).map(|at| format!("f{at}{place}")).collect::<Vec<_>>().join(", ");
        let inner_call =
            format!("rtcg_inner({}{stride_arguments}{}{})", pointers(" + at"), self.indices(), inner.passed);
        let own_arguments: String = (0..n).map(|axis| format!(", g{axis}")).collect();
        let edge_call = format!(
            "rtcg_edge({}{own_arguments}{length_arguments}{stride_arguments}{}{})",
            pointers(""),
            self.indices(),
            inner.passed
        );
        // One test for all rows of a thread; a single column of items has none that is shared.
        let is_shared = n > 1 && items > 1;
        if is_shared {
            let firsts = self.each(|axis| format!("      const rtcg_index g{axis} = c{axis};"), "\n");
            self.put(&format!(
                "    bool is_inner;\n    {{\n{firsts}\n      is_inner = {};\n    }}",
                self.is_inner(items - 1)
            ));
            self.put(&format!("    if (is_inner) {{\n{items_head}\n        const {VALUE} v = {inner_call};"));
            self.stores("v", "        ");
            self.put("      }\n    } else {");
        } else {
            self.put("    {");
        }
        self.put(&items_head);
        let inside = self.each(|axis| format!("g{axis} < n{axis}"), " && ");
        let is_inner = self.is_inner(0);
        self.put(&format!("        if (!({inside})) continue;"));
        self.put(&format!("        if ({is_inner}) {{\n          const {VALUE} v = {inner_call};"));
        self.stores("v", "          ");
        self.put("        } else {");
        if has_edge {
            self.put(&format!("          const {VALUE} v = {edge_call};"));
            self.stores("v", "          ");
        } else {
            for output in 0..self.model.outputs.len() {
                let value = self.halo_value(output, |field| format!("f{field}[at]"));
                self.put(&format!("          o{output}[at] = {value};"));
            }
        }
        self.put("        }\n      }\n    }\n  }\n}");
        Ok(())
    }

    /// A device function that reads an element that may lie beyond a border.
    fn element_beyond(&mut self, at: usize, lengths: &str, strides: &str) {
        let ty = self.field_type(at);
        let last = self.model.n_axes - 1;
        let places = self.each(|axis| format!(", rtcg_index p{axis}"), "");
        self.put(&format!("__device__ __forceinline__ {ty} rtcg_at{at}(const {ty} *f{places}{lengths}{strides})\n{{"));
        if self.launch.boundary == Boundary::Constant {
            let beyond = self.each(|axis| format!("p{axis} < 0 || p{axis} >= n{axis}"), " || ");
            self.put(&format!("  if ({beyond}) return {};", self.constant(self.model.fields[at].dtype)));
            let place =
                self.each(|axis| if axis == last { format!("p{axis}") } else { format!("p{axis} * s{axis}_") }, " + ");
            self.put(&format!("  return f[{place}];\n}}"));
            return;
        }
        let place = self.each(
            |axis| {
                format!(
                    "rtcg_border(p{axis}, n{axis}){}",
                    if axis == last { String::new() } else { format!(" * s{axis}_") }
                )
            },
            " + ",
        );
        self.put(&format!("  return f[{place}];\n}}"));
    }

    /// Stores the values of the element at `at`.
    fn stores(&mut self, value: &str, indent: &str) {
        let n = self.model.outputs.len();
        for (output, field) in fields_of(value, n).into_iter().enumerate() {
            self.put(&format!("{indent}o{output}[at] = {field};"));
        }
    }

    // -- from shared memory ---------------------------------------------------------------------

    fn tile(&mut self, writer: &mut Writer<'a>) -> Result<(), Box<Problem>> {
        let model = self.model;
        let (tile, extent) = (model.tile(&self.choice), model.extent(&self.choice));
        let pitches: Vec<usize> = (0..model.n_axes).map(|axis| extent[axis + 1..].iter().product()).collect();
        let point = |field: usize, offsets: &[i64]| {
            let place: i64 = offsets.iter().zip(&pitches).map(|(offset, pitch)| offset * *pitch as i64).sum();
            format!("f{field}[{place}]")
        };
        let inner = match self.rolled {
            Some(rolled) => self.rolled_points(writer, rolled, &pitches)?,
            None => self.function(writer, "rtcg_point", "", &point)?,
        };
        self.head(writer, &tile);
        let bytes = model.tile_bytes(&self.choice);
        let total: usize = bytes.iter().map(|(_, bytes)| bytes).sum();
        self.put(&format!("    __shared__ __align__(16) unsigned char rtcg_tiles[{total}];"));
        let mut offset = 0;
        let mut seen = vec![0; model.fields.len()];
        for (field, bytes) in &bytes {
            let ty = self.field_type(*field);
            self.put(&format!("    {ty} *const a{field}_{} = ({ty} *)(rtcg_tiles + {offset});", seen[*field]));
            seen[*field] += 1;
            offset += bytes;
        }
        let steps = self.choice.steps as usize;
        match self.rolled {
            Some(_) => {
                self.load(&extent, true);
                self.rolled_step(&tile, &pitches, &inner);
            }
            None => {
                if steps > 1 {
                    // Most boxes touch no border, and need none of its tests.
                    let is_inside = self.each(
                        |axis| {
                            let (low, high) = model.radius[axis];
                            let end = tile[axis] as i64 + steps as i64 * high;
                            format!("b{axis} >= {} && b{axis} + {end} <= n{axis}", steps as i64 * low)
                        },
                        " && ",
                    );
                    self.put(&format!("    if ({is_inside}) {{"));
                    self.load(&extent, false);
                    (1..=steps).for_each(|step| self.inner_step(step, &extent, &pitches, &inner));
                    self.put("    } else {");
                }
                self.load(&extent, true);
                (1..=steps).for_each(|step| self.step(step, &extent, &pitches, &inner));
                if steps > 1 {
                    self.put("    }");
                }
            }
        }
        self.put("    __syncthreads();\n  }\n}");
        Ok(())
    }

    /// The head of a loop over a box of these sizes.
    pub(super) fn box_loop(&mut self, sizes: &[usize]) {
        let threads = self.choice.columns * self.choice.rows;
        let volume: usize = sizes.iter().product();
        self.put(&format!("    for (int e = threadIdx.x; e < {volume}; e += {threads}) {{"));
        if sizes.len() > 1 {
            self.put("      int r = e;");
        }
        for axis in (1..sizes.len()).rev() {
            self.put(&format!("      const int m{axis} = r % {0}; r /= {0};", sizes[axis]));
        }
        self.put(&format!("      const int m0 = {};", if sizes.len() > 1 { "r" } else { "e" }));
    }

    /// Fills the tiles; those of a box that touches no border are filled without its tests.
    fn load(&mut self, extent: &[usize], has_border: bool) {
        let (model, steps) = (self.model, self.choice.steps);
        let last = model.n_axes - 1;
        self.box_loop(extent);
        self.put(&self.each(
            |axis| format!("      const rtcg_index g{axis} = b{axis} + m{axis} - {};", model.radius[axis].0 * steps),
            "\n",
        ));
        let place = self.each(
            |axis| {
                let stride = if axis == last { String::new() } else { format!(" * s{axis}_") };
                if has_border { format!("rtcg_border(g{axis}, n{axis}){stride}") } else { format!("g{axis}{stride}") }
            },
            " + ",
        );
        self.put(&format!("      const rtcg_index at = {place};"));
        let inside = self.each(|axis| format!("g{axis} >= 0 && g{axis} < n{axis}"), " && ");
        for at in 0..model.fields.len() {
            let value = match self.launch.boundary {
                Boundary::Constant if has_border => {
                    format!("({inside}) ? f{at}[at] : {}", self.constant(model.fields[at].dtype))
                }
                _ => format!("f{at}[at]"),
            };
            self.put(&format!("      a{at}_0[e] = {value};"));
        }
        self.put("    }\n    __syncthreads();");
    }

    /// The tile that holds a field before a step, counted from 1.
    fn tile_before(&self, step: usize, field: usize) -> String {
        let alternates = field < self.model.outputs.len() && self.choice.steps > 1;
        format!("a{field}_{}", if alternates { (step - 1) % 2 } else { 0 })
    }

    /// The sizes of the box that a step computes.
    fn step_sizes(&self, step: usize, extent: &[usize]) -> Vec<usize> {
        let reach = |axis: usize| (self.model.radius[axis].0 + self.model.radius[axis].1) as usize;
        (0..self.model.n_axes).map(|axis| extent[axis] - step * reach(axis)).collect()
    }

    /// One step of a box that touches no border. A thread computes some elements below each other, which share what they
    /// read.
    fn inner_step(&mut self, step: usize, extent: &[usize], pitches: &[usize], inner: &Parameters) {
        let (model, steps) = (self.model, self.choice.steps as usize);
        let n_outputs = model.outputs.len();
        let mut sizes = self.step_sizes(step, extent);
        let row = model.n_axes.checked_sub(2);
        let items = row.map_or(1, |row| self.strip(sizes[row], sizes.iter().product()));
        if let Some(row) = row {
            sizes[row] /= items;
        }
        let scale = |axis: usize| if Some(axis) == row { items } else { 1 };
        self.box_loop(&sizes);
        let low = |axis: usize| model.radius[axis].0 as usize;
        self.put(&self.each(
            |axis| {
                let back = (steps - step) * low(axis);
                format!("      const rtcg_index h{axis} = b{axis} - {back} + m{axis} * {};", scale(axis))
            },
            "\n",
        ));
        let place =
            self.each(|axis| format!("(m{axis} * {} + {}) * {}", scale(axis), step * low(axis), pitches[axis]), " + ");
        let head = self.each(
            |axis| format!("const rtcg_index g{axis} = h{axis}{};", if Some(axis) == row { " + k" } else { "" }),
            " ",
        );
        let pitch = row.map_or(0, |row| pitches[row]);
        let fields: Vec<String> = (0..model.fields.len())
            .map(|field| format!("{} + (place + k * {pitch})", self.tile_before(step, field)))
            .collect();
        self.put(&format!(
            "      const int place = {place};\n      {VALUE} v[{items}];\n      #pragma unroll\n      for (int k = 0; k < \
             {items}; ++k) {{\n        {head}\n        v[k] = rtcg_point({}{}{});\n      }}\n      #pragma unroll\n      \
             for (int k = 0; k < {items}; ++k) {{",
            fields.join(", "),
            self.indices(),
            inner.passed
        ));
        if step == steps {
            self.put(&format!("        {head}\n        const rtcg_index at = {};", self.flat()));
            self.stores("v[k]", "        ");
        } else {
            for (output, value) in fields_of("v[k]", n_outputs).into_iter().enumerate() {
                self.put(&format!("        a{output}_{}[place + k * {pitch}] = {value};", step % 2));
            }
        }
        self.put("      }\n    }");
        if step < steps {
            self.put("    __syncthreads();");
        }
    }

    /// How many elements below each other a thread computes: of the divisors of the rows of a box, the one that leaves the
    /// fewest threads idle, where an index costs about as much as an element.
    fn strip(&self, rows: usize, volume: usize) -> usize {
        let threads = (self.choice.columns * self.choice.rows) as usize;
        let cost = |items: &usize| (volume / items).div_ceil(threads) * (items + 1);
        (1..=8).filter(|items| rows.is_multiple_of(*items)).min_by_key(cost).unwrap_or(1)
    }

    /// One step, counted from 1: from the tiles to the others, or to the outputs.
    fn step(&mut self, step: usize, extent: &[usize], pitches: &[usize], inner: &Parameters) {
        let (model, launch) = (self.model, self.launch);
        let steps = self.choice.steps as usize;
        let is_last = step == steps;
        let n_outputs = model.outputs.len();
        let all_now: Vec<String> = (0..model.fields.len()).map(|field| self.tile_before(step, field)).collect();
        let now = |field: usize| &all_now[field];
        let next = |field: usize| format!("a{field}_{}", step % 2);
        let low = |axis: usize| model.radius[axis].0 as usize;
        let high = |axis: usize| model.radius[axis].1 as usize;
        let sizes = self.step_sizes(step, extent);
        // The first index of the box of this step.
        let first = |axis: usize| format!("b{axis} - {}", (steps - step) * low(axis));
        let at = |pitches: &[usize]| {
            (0..model.n_axes)
                .map(|axis| format!("(m{axis} + {}) * {}", step * low(axis), pitches[axis]))
                .collect::<Vec<_>>()
                .join(" + ")
        };
        self.box_loop(&sizes);
        self.put(&self.each(|axis| format!("      const rtcg_index g{axis} = {} + m{axis};", first(axis)), "\n"));
        let inside = if is_last {
            self.each(|axis| format!("g{axis} < n{axis}"), " && ")
        } else {
            self.each(|axis| format!("g{axis} >= 0 && g{axis} < n{axis}"), " && ")
        };
        self.put(&format!("      const int place = {};", at(pitches)));
        if is_last {
            self.put(&format!("      if (!({inside})) continue;\n      const rtcg_index at = {};", self.flat()));
        }
        let target =
            |output: usize| if is_last { format!("o{output}[at]") } else { format!("{}[place]", next(output)) };
        let condition = match (launch.boundary, is_last) {
            (Boundary::Interior, _) => Some(self.is_inner(0)),
            (Boundary::Wrap, _) | (_, true) => None,
            _ => Some(inside.clone()),
        };
        if let Some(condition) = &condition {
            self.put(&format!("      if ({condition})"));
        }
        let pointers =
            (0..model.fields.len()).map(|field| format!("{} + place", now(field))).collect::<Vec<_>>().join(", ");
        self.put(&format!(
            "      {{\n        const {VALUE} v = rtcg_point({pointers}{}{});",
            self.indices(),
            inner.passed
        ));
        for (output, value) in fields_of("v", n_outputs).into_iter().enumerate() {
            self.put(&format!("        {} = {value};", target(output)));
        }
        self.put("      }");
        let otherwise: Option<Vec<String>> = match launch.boundary {
            Boundary::Interior => Some(
                (0..n_outputs)
                    .map(|output| self.halo_value(output, |field| format!("{}[place]", now(field))))
                    .collect(),
            ),
            Boundary::Constant if !is_last => Some(model.outputs.iter().map(|dtype| self.constant(*dtype)).collect()),
            _ => None,
        };
        if let Some(values) = otherwise {
            self.put("      else {");
            for (output, value) in values.iter().enumerate() {
                self.put(&format!("        {} = {value};", target(output)));
            }
            self.put("      }");
        }
        self.put("    }");
        if is_last {
            return;
        }
        self.put("    __syncthreads();");
        if !matches!(launch.boundary, Boundary::Clamp | Boundary::Reflect) {
            return;
        }
        // Elements of the halo beyond borders are those inside that they stand for.
        let touches = self.each(|axis| format!("{} < 0 || {0} + {} > n{axis}", first(axis), sizes[axis]), " || ");
        self.put(&format!("    if ({touches}) {{"));
        self.box_loop(&sizes);
        self.put(&self.each(|axis| format!("      const rtcg_index g{axis} = {} + m{axis};", first(axis)), "\n"));
        let needed = self.each(
            |axis| {
                let (low, high) = ((steps - step) * low(axis), (steps - step) * high(axis));
                format!("g{axis} >= -{low} && g{axis} < n{axis} + {high}")
            },
            " && ",
        );
        let from = (0..model.n_axes)
            .map(|axis| {
                let origin = steps * low(axis);
                format!("(int)(rtcg_border(g{axis}, n{axis}) - b{axis} + {origin}) * {}", pitches[axis])
            })
            .collect::<Vec<_>>()
            .join(" + ");
        self.put(&format!("      if (({inside}) || !({needed})) continue;"));
        self.put(&format!("      const int place = {}, from = {from};", at(pitches)));
        for output in 0..n_outputs {
            self.put(&format!("      {0}[place] = {0}[from];", next(output)));
        }
        self.put("    }\n    __syncthreads();\n    }");
    }
}
