//! The loops over the elements of arrays: adjacent ones, several of them at once, by strides, or through tiles. What is
//! computed of the elements is the leaf: an operation, or the steps of an expression.

use super::c_types::storage_type;
use super::element_offsets::IndexSpace;
use super::pointwise::{AccessPattern, OperandKind};
use super::transpose_tile::TransposeTile;
use rtcg_hal::DType;
use std::fmt::Write;

/// An array that is written.
pub(super) struct LoopOutput {
    /// Its name in the kernel.
    pub(super) name: String,
    /// Its dtype.
    pub(super) dtype: DType,
    /// Whether its addresses may be unaligned for its type.
    pub(super) is_unaligned: bool,
}

/// An array that is read.
pub(super) struct LoopArray {
    /// Its name in the kernel.
    pub(super) name: String,
    /// Its dtype.
    pub(super) dtype: DType,
    /// How it is passed: never by value.
    pub(super) access: OperandKind,
}

/// Statements, and the value of each output after them.
pub(super) type LeafText = (String, Vec<String>);

/// What is computed at an index, with so many spaces before each statement, of the elements of arrays by their numbers.
pub(super) type Leaf<'a> = dyn Fn(&str, &str, &dyn Fn(usize) -> String) -> LeafText + 'a;

/// The loops of a kernel.
pub(super) struct ElementLoops {
    /// What is written.
    pub(super) outputs: Vec<LoopOutput>,
    /// What is read, in the order of the parameters.
    pub(super) arrays: Vec<LoopArray>,
}

/// The element `offset` bytes after `base`.
pub(super) fn element_access_expression(dtype: DType, access: OperandKind, base: &str, offset: &str) -> String {
    let (ty, address) = (storage_type(dtype), format!("(const char *){base} + {offset}"));
    match access {
        OperandKind::Unaligned => format!("rt_gather_bytes<{ty}>({address})"),
        _ => format!("*(const {ty} *)({address})"),
    }
}

impl LoopArray {
    /// The element `offset` bytes after the beginning.
    fn element(&self, offset: &str) -> String {
        element_access_expression(self.dtype, self.access, &self.name, offset)
    }
}

impl ElementLoops {
    /// The arrays that have an element for every index, with their numbers.
    fn indexed_arrays(&self) -> impl Iterator<Item = (usize, &LoopArray)> {
        self.arrays.iter().enumerate().filter(|(_, array)| array.access != OperandKind::Broadcast)
    }

    /// Operands whose offsets strided kernels compute: outputs, then arrays.
    pub(super) fn n_offsets(&self) -> usize {
        self.outputs.len() + self.indexed_arrays().count()
    }

    /// The parameters of outputs and arrays.
    pub(super) fn parameters(&self) -> Vec<String> {
        let outputs = self.outputs.iter().map(|output| format!("{} *{}", storage_type(output.dtype), output.name));
        let arrays = self.arrays.iter().map(|array| format!("const {} *{}", storage_type(array.dtype), array.name));
        outputs.chain(arrays).collect()
    }

    /// The body of the kernel.
    pub(super) fn body(&self, pattern: AccessPattern, leaf: &Leaf<'_>) -> String {
        match pattern {
            AccessPattern::Flat(elements_per_access) => self.flat_body(elements_per_access, leaf),
            AccessPattern::Strided(space) => self.strided_body(space, leaf),
            AccessPattern::Tiled(space, tile) => self.tiled_body(space, tile, leaf),
        }
    }

    fn element_in_order(&self, at: usize, own: &str) -> String {
        let LoopArray { name, access, .. } = &self.arrays[at];
        if *access == OperandKind::Broadcast { format!("{name}[0]") } else { format!("{name}{own}") }
    }

    fn flat_body(&self, elements_per_access: u8, leaf: &Leaf<'_>) -> String {
        let mut text = "  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;\n\
                        \x20 const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
            .to_owned();
        let mut done = "0ull".to_owned();
        if elements_per_access > 1 {
            text.push_str(&self.packed_loop(elements_per_access, leaf));
            done = format!("n / {elements_per_access} * {elements_per_access}");
        }
        let computed = leaf("i", "    ", &|at| self.element_in_order(at, "[i]"));
        let head = format!("  for (unsigned long long i = {done} + first; i < n; i += step)");
        text + &self.loop_text(&head, "  ", computed, |output| format!("{}[i]", output.name))
    }

    /// A loop, in one line where there is one statement.
    fn loop_text(
        &self,
        head: &str,
        indent: &str,
        (statements, values): LeafText,
        place: impl Fn(&LoopOutput) -> String,
    ) -> String {
        let stores = self.outputs.iter().zip(values).map(|(output, value)| format!("{} = {value};\n", place(output)));
        if statements.is_empty() && self.outputs.len() == 1 {
            return format!("{head} {}", stores.collect::<String>());
        }
        let stores: String = stores.map(|store| format!("{indent}  {store}")).collect();
        format!("{head} {{\n{statements}{stores}{indent}}}\n")
    }

    /// The loop over adjacent elements that are read and written at once.
    fn packed_loop(&self, elements_per_access: u8, leaf: &Leaf<'_>) -> String {
        let pack = |dtype: DType| format!("rt_pack<{}, {elements_per_access}>", storage_type(dtype));
        let mut text = format!("  for (unsigned long long p = first; p < n / {elements_per_access}; p += step) {{\n");
        for (_, LoopArray { name, dtype, .. }) in self.indexed_arrays() {
            let _ = writeln!(text, "    const {0} {name}p = ((const {0} *){name})[p];", pack(*dtype));
        }
        for LoopOutput { name, dtype, .. } in &self.outputs {
            let _ = writeln!(text, "    {} {name}p;", pack(*dtype));
        }
        let index = format!("p * {elements_per_access} + k");
        let computed = leaf(&index, "      ", &|at| self.element_in_order(at, "p.at[k]"));
        let head = format!("    #pragma unroll\n    for (int k = 0; k < {elements_per_access}; k++)");
        text.push_str(&self.loop_text(&head, "    ", computed, |output| format!("{}p.at[k]", output.name)));
        for LoopOutput { name, dtype, .. } in &self.outputs {
            let _ = writeln!(text, "    (({} *){name})[p] = {name}p;", pack(*dtype));
        }
        text + "  }\n"
    }

    fn strided_body(&self, space: IndexSpace, leaf: &Leaf<'_>) -> String {
        let index = space.index_type();
        let mut text = format!(
            "  const {index} step = gridDim.x * ({index})blockDim.x;\n\
             \x20 for ({index} i = blockIdx.x * ({index})blockDim.x + threadIdx.x; i < ({index})n; i += step) {{\n"
        );
        text.push_str(&space.offset_statements("dims", "i", self.n_offsets(), "at", "    "));
        let (statements, values) = leaf("i", "    ", &|at| self.arrays[at].element(&self.offset_name(at)));
        text.push_str(&statements);
        for (at, (LoopOutput { name, dtype, is_unaligned }, value)) in self.outputs.iter().zip(values).enumerate() {
            let ty = storage_type(*dtype);
            let _ = match is_unaligned {
                true => writeln!(text, "    rt_scatter_bytes<{ty}>((char *){name} + at{at}, {value});"),
                false => writeln!(text, "    *({ty} *)((char *){name} + at{at}) = {value};"),
            };
        }
        text + "  }\n"
    }

    /// The offset of an array's element in strided kernels.
    fn offset_name(&self, at: usize) -> String {
        format!("at{}", self.outputs.len() + at)
    }

    fn tiled_body(&self, space: IndexSpace, tile: TransposeTile, leaf: &Leaf<'_>) -> String {
        let operands: Vec<_> = self.arrays.iter().map(|array| (array.name.as_str(), array.dtype)).collect();
        let outputs = self.outputs.len();
        tile.kernel_body(space, outputs, &operands, |address| {
            let element = |at: usize| match tile.is_transposed(at) {
                true => format!("{}_tile[e % SIDE * (SIDE + 1) + e / SIDE]", self.arrays[at].name),
                false => self.arrays[at].element(&address(outputs + at)),
            };
            let (statements, values) = leaf("0", "        ", &element);
            let store = |(at, (output, value)): (usize, (&LoopOutput, String))| {
                let (ty, name) = (storage_type(output.dtype), &output.name);
                format!("        *({ty} *)((char *){name} + {}) = {value};\n", address(at))
            };
            statements + &self.outputs.iter().zip(values).enumerate().map(store).collect::<String>()
        })
    }
}
