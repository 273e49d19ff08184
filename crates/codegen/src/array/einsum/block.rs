//! Small einsums for many elements: a block loads what its elements need into shared memory and contracts it there, two
//! operands at a time; intermediate results never leave the multiprocessor.
//!
//! Parameters: the result, the operands, the number of elements, and the structure of lengths and strides, first of the
//! axes whose indices together number the elements, the fastest last, then of the inner ones.
//!
//! The register tiles of a thread, some rows by some columns of a step, follow V. Volkov and J. Demmel, "Benchmarking
//! GPUs to tune dense linear algebra", 2008; several elements per block, and matrices in shared memory, follow A.
//! Kloeckner et al., "Nodal discontinuous Galerkin methods on graphics processors", 2009.

use super::super::matmul::matmul_accumulator_bytes;
use super::{AxisNames, EinsumAxis, EinsumTypes};
use rtcg_hal::KernelSpec;
use std::borrow::Cow;
use std::fmt::Write;

/// The element index as a dimension of an array; the other dimensions are inner axes.
pub const ELEMENT_DIM: u8 = u8::MAX;

/// An operand, or the result of a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockArray {
    /// Its dimensions: inner axes, and [`ELEMENT_DIM`] if it differs between elements. Those of an operand are in order
    /// of decreasing stride.
    pub dims: Vec<u8>,
    /// Whether it is in shared memory, as are the results of all steps but the last.
    pub is_shared: bool,
}

impl BlockArray {
    fn has(&self, dim: u8) -> bool {
        self.dims.contains(&dim)
    }
}

/// A contraction of one or two arrays, with the dimensions that remain; the result is the next array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockStep {
    /// The first array.
    pub a: usize,
    /// The second array.
    pub b: Option<usize>,
    /// The dimensions of the result, the fastest-varying one last.
    pub kept: Vec<u8>,
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockEinsum {
    /// The dtypes.
    pub types: EinsumTypes,
    /// The axes whose indices together number the elements.
    pub outer: Vec<EinsumAxis>,
    /// The axes that a block processes completely; their lengths are part of the source.
    pub inner: Vec<EinsumAxis>,
    /// The operands, then the results of all steps.
    pub arrays: Vec<BlockArray>,
    /// The contractions, in order.
    pub steps: Vec<BlockStep>,
    /// Adjacent items along the last dimension of the result and of each operand that a thread may access at once.
    pub packs: Vec<u8>,
    /// Elements per block.
    pub elements: u16,
    /// Threads per block.
    pub threads: u16,
    /// Maximum rows and columns of a step's result that a thread computes.
    pub tile: [u8; 2],
    /// Whether tensor cores multiply where possible; rows and columns are then those of fragments.
    pub tensor_cores: bool,
    /// Whether adjacent threads process adjacent elements, rather than adjacent results.
    pub element_lanes: bool,
    /// Unroll factor of the sum.
    pub unroll: u8,
    /// 64-bit indices and offsets.
    pub wide: bool,
}

/// Rows past the end that a thread may read.
const SLACK: usize = 8;

/// An array, its name in the code of a step, and the dimension of which a thread has several indices.
type TileOperand<'a> = (usize, &'a str, Option<(u8, usize)>);

/// What a step does.
struct StepPlan<'a> {
    a: usize,
    b: Option<usize>,
    /// The dimension, and how many indices of it a thread has.
    rows: Option<(u8, usize)>,
    columns: Option<(u8, usize)>,
    kept: &'a [u8],
    reduced: Vec<u8>,
}

impl BlockEinsum {
    /// Shared memory per block in bytes.
    pub fn shared_bytes(&self) -> usize {
        self.offsets().1
    }

    /// The C type of an array's items in shared memory, and their bytes: sums, or 16-bit operands of tensor cores.
    fn shared_item(&self, array: usize) -> (&'static str, usize) {
        match self.is_half(array) {
            true => ("E", self.types.compute.itemsize()),
            false => ("T", matmul_accumulator_bytes(self.types.compute)),
        }
    }

    pub(super) fn length(&self, dim: u8) -> usize {
        match dim {
            ELEMENT_DIM => usize::from(self.elements),
            axis => self.inner[usize::from(axis)].length.unwrap_or(1) as usize,
        }
    }

    /// Items along a dimension in shared memory: an odd number of elements where they are adjacent, which threads that
    /// write other dimensions put into different banks.
    fn pitch(&self, dim: u8) -> usize {
        let is_padded = dim == ELEMENT_DIM && self.element_lanes && self.elements > 1;
        self.length(dim) + usize::from(is_padded)
    }

    fn size(&self, array: &BlockArray) -> usize {
        array.dims.iter().map(|&dim| self.length(dim)).product()
    }

    fn shared_size(&self, array: usize) -> usize {
        let last = |&(dim, stride): &(u8, usize)| (self.pitch(dim) - 1) * stride;
        self.shared_strides(array).iter().map(last).sum::<usize>() + 1 + self.slack()
    }

    /// Items behind each array, which threads read for rows past the end.
    fn slack(&self) -> usize {
        SLACK * if self.element_lanes { usize::from(self.elements) + 1 } else { 1 }
    }

    /// Where arrays begin in shared memory, in bytes, and where the last one ends.
    fn offsets(&self) -> (Vec<usize>, usize) {
        let mut end = 0;
        let mut place = |array: usize| {
            let (start, bytes) = (end, self.shared_size(array) * self.shared_item(array).1);
            // Vectors of items begin at multiples of their size.
            end += if self.arrays[array].is_shared { bytes.next_multiple_of(16) } else { 0 };
            start
        };
        let starts = (0..self.arrays.len()).map(&mut place).collect();
        (starts, end)
    }

    /// As many indices for each thread as are asked for, or fewer where that leaves fewer threads without work.
    fn share(&self, dim: u8, most: u8) -> usize {
        let length = self.length(dim);
        let groups = length.div_ceil(usize::from(most.max(1))).max(1);
        length.div_ceil(groups)
    }

    fn plan<'a>(&self, step: &'a BlockStep) -> StepPlan<'a> {
        let none = BlockArray { dims: Vec::new(), is_shared: true };
        let array = |index: Option<usize>| index.map_or(&none, |index| &self.arrays[index]);
        let alone = |x: &BlockArray, y: &BlockArray| {
            let mut dims: Vec<u8> =
                x.dims.iter().copied().filter(|dim| step.kept.contains(dim) && !y.has(*dim)).collect();
            dims.sort_by_key(|dim| self.length(*dim));
            dims
        };
        // The rows are those of the array that all elements share, if one does.
        let is_swapped =
            step.b.is_some_and(|b| self.arrays[step.a].has(ELEMENT_DIM) && !self.arrays[b].has(ELEMENT_DIM));
        let (a, b) = if let (true, Some(b)) = (is_swapped, step.b) { (b, Some(step.a)) } else { (step.a, step.b) };
        let (x, y) = (&self.arrays[a], array(b));
        let rows = alone(x, y).into_iter().rfind(|dim| *dim != ELEMENT_DIM);
        let of_b = alone(y, x);
        let columns = of_b.iter().copied().find(|dim| *dim == ELEMENT_DIM).or(of_b.last().copied());
        let mut reduced: Vec<u8> = x.dims.iter().copied().filter(|dim| !step.kept.contains(dim)).collect();
        reduced.extend(y.dims.iter().copied().filter(|dim| !step.kept.contains(dim) && !x.has(*dim)));
        let with_share = |most: u8| move |dim: u8| (dim, self.share(dim, most));
        StepPlan {
            a,
            b,
            rows: rows.map(with_share(self.tile[0])),
            columns: columns.map(with_share(self.tile[1])),
            kept: &step.kept,
            reduced,
        }
    }

    /// The step that reads an array.
    fn reader(&self, array: usize) -> Option<StepPlan<'_>> {
        self.steps.iter().find(|step| step.a == array || step.b == Some(array)).map(|step| self.plan(step))
    }

    /// The dimensions of an array in shared memory with their strides in items: what a thread reads together is adjacent.
    fn shared_strides(&self, array: usize) -> Vec<(u8, usize)> {
        if let Some(strides) = self.fragment_strides(array, self.shared_item(array).1) {
            return strides;
        }
        let reader = self.reader(array);
        let tiled = reader.and_then(|plan| if plan.a == array { plan.rows } else { plan.columns });
        let tiled = tiled.map(|(dim, _)| dim).filter(|dim| *dim != ELEMENT_DIM);
        let mut order: Vec<u8> = self.arrays[array].dims.iter().copied().filter(|dim| *dim != ELEMENT_DIM).collect();
        order.sort_unstable();
        order.sort_by_key(|dim| Some(*dim) == tiled);
        if self.arrays[array].has(ELEMENT_DIM) {
            order.insert(if self.element_lanes { order.len() } else { 0 }, ELEMENT_DIM);
        }
        let mut stride = 1;
        let mut strides: Vec<(u8, usize)> = Vec::new();
        for dim in order.into_iter().rev() {
            strides.push((dim, stride));
            stride *= self.pitch(dim);
        }
        strides
    }

    /// The offset that an index of a dimension makes: items in shared memory, bytes elsewhere. None where there is none.
    pub(super) fn offset(&self, names: &AxisNames<'_>, array: usize, dim: u8, index: &str) -> Option<String> {
        if !self.arrays[array].has(dim) {
            return None;
        }
        if self.arrays[array].is_shared {
            let stride = self.shared_strides(array).into_iter().find(|(known, _)| *known == dim)?.1;
            return Some(format!("({index}) * {stride}"));
        }
        // The last array is the result, which comes first among the arguments.
        let operand = if array + 1 == self.arrays.len() { 0 } else { array + 1 };
        match dim {
            ELEMENT_DIM => Some(format!("outer{operand}(element(first + ({index}), n), dims)")),
            axis => names.offset(&format!("({index})"), self.outer.len() + usize::from(axis), operand),
        }
    }

    /// What is at an offset of an array, as it is multiplied.
    pub(super) fn value(&self, array: usize, at: &str) -> String {
        match self.arrays[array].is_shared {
            true => format!("T(rt_load(s_{array}[{at}]))"),
            false => format!("load{array}(x_{} + ({at}))", array + 1),
        }
    }

    fn element_functions(&self, names: &AxisNames<'_>) -> String {
        let [index, offset] = names.types();
        let mut text = format!(
            "__device__ __forceinline__ {index} element({index} at, {index} n) {{ return at < n ? at : n - 1; }}\n"
        );
        for operand in 0..=self.types.operands.len() {
            let _ = write!(
                text,
                "__device__ __forceinline__ {offset} outer{operand}({index} rest, const einsum_dims &dims) {{ {offset} at = 0;"
            );
            for axis in (0..self.outer.len()).rev() {
                let length = names.length(axis);
                let at = if axis == 0 { "rest".into() } else { format!("(rest - rest / {length} * {length})") };
                if let Some(step) = names.offset(&at, axis, operand) {
                    let _ = write!(text, " at += {step};");
                }
                if axis > 0 {
                    let _ = write!(text, " rest /= {length};");
                }
            }
            text.push_str(" return at; }\n");
        }
        text
    }

    /// Brings an operand to shared memory, adjacent threads along its narrowest stride.
    fn stage(&self, names: &AxisNames<'_>, array: usize) -> String {
        let pack = usize::from(self.packs[array + 1]);
        let packs = self.size(&self.arrays[array]) / pack;
        let mut text = format!("    for (int t = threadIdx.x; t < {packs}; t += THREADS) {{\n      int rest = t;");
        let (mut from, mut to) = (format!("x_{}", array + 1), format!("s_{array}"));
        let (strides, dims) = (self.shared_strides(array), &self.arrays[array].dims);
        for (k, &dim) in dims.iter().enumerate().rev() {
            let scale = if k + 1 == dims.len() { pack } else { 1 };
            let length = self.length(dim) / scale;
            let _ = match k {
                0 => write!(text, " const int d{k} = rest * {scale};"),
                _ => write!(text, " const int d{k} = rest % {length} * {scale}; rest /= {length};"),
            };
            let index = format!("d{k}");
            let operand = array + 1;
            let step = match dim {
                ELEMENT_DIM => Some(format!("outer{operand}(element(first + {index}, n), dims)")),
                axis => names.offset(&index, self.outer.len() + usize::from(axis), operand),
            };
            step.into_iter().for_each(|step| from = format!("{from} + {step}"));
            let stride = strides.iter().find(|(known, _)| *known == dim).map_or(0, |known| known.1);
            to = format!("{to} + {index} * {stride}");
        }
        let ((item, itemsize), load) = (self.shared_item(array), if self.is_half(array) { "element" } else { "load" });
        let step = dims.last().map_or(1, |last| strides.iter().find(|(dim, _)| dim == last).map_or(1, |known| known.1));
        // Packs of an array lie apart by their size where the strides of its other dimensions are multiples of it.
        let is_multiple = |&(dim, stride): &(u8, usize)| Some(&dim) == dims.last() || stride.is_multiple_of(pack);
        let is_packed = step == 1 && pack * itemsize <= 16 && strides.iter().all(is_multiple);
        let write = match is_packed {
            true => format!("*(rt_pack<{item}, {pack}> *)({to}) = items;"),
            false => format!(
                "\n      #pragma unroll\n      for (int p = 0; p < {pack}; p++) ({to})[p * {step}] = items.at[p];"
            ),
        };
        let _ = writeln!(
            text,
            "\n      const rt_pack<X{array}, {pack}> read = *(const rt_pack<X{array}, {pack}> *)({from});\n\
             \x20     rt_pack<{item}, {pack}> items;\n\
             \x20     #pragma unroll\n\
             \x20     for (int p = 0; p < {pack}; p++) items.at[p] = {load}{array}((const char *)&read.at[p]);\n\
             \x20     {write}\n    }}"
        );
        text
    }

    /// The code of a step whose result is array `result`.
    fn step(&self, names: &AxisNames<'_>, plan: &StepPlan<'_>, result: usize) -> String {
        let tile = |shared: Option<(u8, usize)>| shared.map_or(1, |(_, share)| share);
        let (rows, columns) = (tile(plan.rows), tile(plan.columns));
        let mut text = self.work_loop(plan);
        let operands: Vec<TileOperand<'_>> = [(Some(plan.a), "a", plan.rows), (plan.b, "b", plan.columns)]
            .into_iter()
            .filter_map(|(array, name, tile)| Some((array?, name, tile)))
            .collect();
        operands.iter().for_each(|operand| text.push_str(&self.tile_offsets(names, plan, *operand)));
        let _ = writeln!(
            text,
            "      T sum[{rows}][{columns}];\n      #pragma unroll\n      for (int r = 0; r < {rows}; r++)\n        #pragma unroll\n        for (int c = 0; c < {columns}; c++) sum[r][c] = T(0);"
        );
        for (depth, &dim) in plan.reduced.iter().enumerate() {
            let unroll = if depth + 1 == plan.reduced.len() { self.unroll } else { 1 };
            let (name, length) = (index_name(dim), self.length(dim));
            let _ = writeln!(
                text,
                "      #pragma unroll {unroll}\n      for (int {name} = 0; {name} < {length}; {name}++) {{"
            );
        }
        let mut factors = Vec::new();
        for &operand in &operands {
            let name = operand.1;
            text.push_str(&self.tile_values(names, plan, operand));
            factors.push(format!("{name}[{}]", if name == "a" { "r" } else { "c" }));
        }
        let add = self.types.accumulate("sum[r][c]", &factors);
        let _ = writeln!(
            text,
            "        #pragma unroll\n        for (int r = 0; r < {rows}; r++)\n          #pragma unroll\n          for (int c = 0; c < {columns}; c++) {add}"
        );
        plan.reduced.iter().for_each(|_| text.push_str("      }\n"));
        text.push_str(&self.store_tile(names, plan, result, [rows, columns]));
        text.push_str("    }\n");
        text
    }

    /// The loop of a thread over its elements of the result, and their indices.
    fn work_loop(&self, plan: &StepPlan<'_>) -> String {
        let share = |dim: u8| {
            let of = |tiled: Option<(u8, usize)>| tiled.filter(|(known, _)| *known == dim).map(|(_, share)| share);
            of(plan.rows).or(of(plan.columns)).unwrap_or(1)
        };
        let groups = |dim: u8| self.length(dim).div_ceil(share(dim));
        let work: usize = plan.kept.iter().map(|&dim| groups(dim)).product();
        let mut text = format!("    for (int w = threadIdx.x; w < {work}; w += THREADS) {{\n      int rest = w;");
        let mut order = plan.kept.to_vec();
        order.sort_by_key(|dim| self.element_lanes && *dim == ELEMENT_DIM);
        for (k, &dim) in order.iter().enumerate().rev() {
            let (name, count) = (index_name(dim), groups(dim));
            let scale = if dim == ELEMENT_DIM { 1 } else { share(dim) };
            let _ = match k {
                0 => write!(text, " const int {name} = rest * {scale};"),
                _ => write!(text, " const int {name} = rest % {count} * {scale}; rest /= {count};"),
            };
        }
        text.push('\n');
        text
    }

    /// Where the array of an operand begins for a thread, and how far its rows or columns are from there.
    fn tile_offsets(&self, names: &AxisNames<'_>, plan: &StepPlan<'_>, (array, name, tile): TileOperand<'_>) -> String {
        let [_, offset] = names.types();
        let tiled = |dim: u8| [plan.rows, plan.columns].iter().flatten().any(|(known, _)| *known == dim);
        let mut text = String::new();
        let fixed = plan.kept.iter().filter(|dim| !tiled(**dim));
        let terms: Vec<String> = fixed.filter_map(|&dim| self.offset(names, array, dim, &index_name(dim))).collect();
        let _ = writeln!(text, "      const {offset} {name}_at = {};", sum_or_zero(&terms));
        let count = tile.map_or(1, |(_, share)| share);
        let _ = write!(
            text,
            "      {offset} {name}_tile[{count}];\n      #pragma unroll\n      for (int t = 0; t < {count}; t++) {name}_tile[t] = "
        );
        let step = tile.and_then(|(dim, share)| {
            let (index, length) = (self.tile_index(dim, share, "t"), self.length(dim));
            // Nothing is behind the end of an operand in global memory.
            let is_inside = self.arrays[array].is_shared || length.is_multiple_of(share);
            let clamped = || format!("{index} < {length} ? {index} : {}", length - 1);
            self.offset(names, array, dim, &if is_inside { index.clone() } else { clamped() })
        });
        let _ = writeln!(text, "{};", step.unwrap_or_else(|| "0".into()));
        text
    }

    /// Reads the elements of an operand that a thread multiplies at one place of the reduced dimensions.
    fn tile_values(&self, names: &AxisNames<'_>, plan: &StepPlan<'_>, (array, name, tile): TileOperand<'_>) -> String {
        let steps: Vec<String> =
            plan.reduced.iter().filter_map(|&dim| self.offset(names, array, dim, &index_name(dim))).collect();
        let count = tile.map_or(1, |(_, share)| share);
        let value = self.value(array, &format!("{name}_at + {} + {name}_tile[t]", sum_or_zero(&steps)));
        format!(
            "        T {name}[{count}];\n        #pragma unroll\n        for (int t = 0; t < {count}; t++) {name}[t] = {value};\n"
        )
    }

    /// The index of one of the rows or columns of a thread: its elements lie apart, so that those of threads are adjacent.
    fn tile_index(&self, dim: u8, share: usize, counter: &str) -> String {
        let step = if dim == ELEMENT_DIM { self.length(dim).div_ceil(share) } else { 1 };
        format!("{} + {counter} * {step}", index_name(dim))
    }

    /// Stores what a thread computed of a step.
    fn store_tile(
        &self,
        names: &AxisNames<'_>,
        plan: &StepPlan<'_>,
        result: usize,
        [rows, columns]: [usize; 2],
    ) -> String {
        let is_last = !self.arrays[result].is_shared;
        let (mut at, mut guards) = (Vec::new(), Vec::new());
        for &dim in plan.kept {
            let mut index = index_name(dim);
            for (tiled, counter) in [(plan.rows, "r"), (plan.columns, "c")] {
                if let Some((_, share)) = tiled.filter(|(known, _)| *known == dim) {
                    index = self.tile_index(dim, share, counter);
                    let length = self.length(dim);
                    (!length.is_multiple_of(share)).then(|| guards.push(format!("{index} < {length}")));
                }
            }
            if dim == ELEMENT_DIM && is_last {
                guards.push(format!("first + {index} < n"));
            }
            at.extend(self.offset(names, result, dim, &index));
        }
        let guard = if guards.is_empty() { String::new() } else { format!("if ({}) ", guards.join(" && ")) };
        let at = sum_or_zero(&at);
        let store = match is_last {
            true => format!("store(out + ({at}), sum[r][c]);"),
            false => format!("s_{result}[{at}] = sum[r][c];"),
        };
        format!(
            "      #pragma unroll\n      for (int r = 0; r < {rows}; r++)\n        #pragma unroll\n        for (int c = 0; c < {columns}; c++) {guard}{store}\n"
        )
    }
}

/// The index along a dimension.
pub(super) fn index_name(dim: u8) -> String {
    if dim == ELEMENT_DIM { "e".into() } else { format!("i{dim}") }
}

pub(super) fn sum_or_zero(terms: &[String]) -> String {
    if terms.is_empty() { "0".into() } else { terms.join(" + ") }
}

impl KernelSpec for BlockEinsum {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_einsum_block".into()
    }

    fn source(&self) -> String {
        let n = self.types.operands.len();
        let names = AxisNames::new(self.outer.iter().chain(&self.inner).collect(), n, self.wide);
        let [index, _] = names.types();
        let mut text = self.types.preamble();
        text.push_str(&names.dims_struct());
        text.push_str(&self.element_functions(&names));
        text.push_str(&self.fragment_functions());
        let _ = writeln!(text, "enum {{ THREADS = {}, ELEMENTS = {} }};", self.threads, self.elements);
        let operands: String = (1..=n).map(|k| format!("const char *x_{k}, ")).collect();
        let _ = write!(
            text,
            "extern \"C\" __global__ void __launch_bounds__(THREADS) array_einsum_block(char *out, {operands}unsigned long long count, const einsum_dims dims)\n{{\n\
             \x20 extern __shared__ __align__(16) unsigned char smem[];\n  const {index} n = ({index})count;\n"
        );
        let (starts, end) = self.offsets();
        for array in (0..self.arrays.len()).filter(|&array| self.arrays[array].is_shared) {
            let (item, start) = (self.shared_item(array).0, starts[array]);
            let _ = writeln!(text, "  {item} *const s_{array} = ({item} *)(smem + {start});");
        }
        // What is read past the end of an array, and between its elements, is never used, but must not be undefined.
        let words = end / 4;
        let _ = writeln!(
            text,
            "  for (int t = threadIdx.x; t < {words}; t += THREADS) ((unsigned *)smem)[t] = 0;\n  __syncthreads();"
        );
        let staged = |has_elements: bool| {
            let is_staged =
                move |k: &usize| self.arrays[*k].is_shared && self.arrays[*k].has(ELEMENT_DIM) == has_elements;
            (0..n).filter(is_staged).map(|k| self.stage(&names, k)).collect::<String>()
        };
        text.push_str(&staged(false));
        let _ = writeln!(
            text,
            "  for ({index} first = blockIdx.x * ({index})ELEMENTS; first < n; first += gridDim.x * ({index})ELEMENTS) {{"
        );
        text.push_str(&staged(true));
        for (k, step) in self.steps.iter().enumerate() {
            text.push_str("    __syncthreads();\n");
            text.push_str(&match self.matrix_dims(step) {
                Some(dims) => self.step_by_fragments(&names, &dims, n + k),
                None => self.step(&names, &self.plan(step), n + k),
            });
        }
        text.push_str("    __syncthreads();\n  }\n}\n");
        text
    }
}
