//! The loops over the elements of arrays: adjacent ones, several of them at once, by strides, or through tiles. What is
//! computed of the elements is the leaf: an operation, the steps of an expression, or a user's snippet.

use super::c_types::storage_type;
use super::element_offsets::IndexSpace;
use super::pointwise::{AccessPattern, OperandKind};
use super::transpose_tile::TransposeTile;
use crate::snippet::ElementUse;
use rtcg_hal::DType;
use std::borrow::Cow;
use std::fmt::Write;

/// An array that a kernel walks over.
pub(crate) struct LoopArray {
    /// Its name in the kernel.
    pub(crate) name: String,
    /// The C type of its elements in memory.
    pub(crate) element: Cow<'static, str>,
    /// How it is passed: never by value.
    pub(crate) access: OperandKind,
    /// Whether elements are read, assigned, or both.
    pub(crate) used: ElementUse,
}

/// Statements, and after them the values of the arrays that get one.
pub(crate) type LeafText = (String, Vec<String>);

/// What is computed at an index, with so many spaces before each statement, of the elements of arrays by their numbers.
pub(crate) type Leaf<'a> = dyn Fn(&str, &str, &dyn Fn(usize) -> String) -> LeafText + 'a;

/// The loops of a kernel over elements `0..n`.
pub(crate) struct ElementLoops {
    /// The arrays: first those that get the values of the leaf. Tiles are written along the first one's last axis.
    pub(crate) arrays: Vec<LoopArray>,
    /// How many arrays get values of the leaf; its statements may change others.
    pub(crate) n_results: usize,
    /// Stands before the names of what the loops declare, which a user's text must not meet.
    pub(crate) prefix: &'static str,
    /// The template of adjacent elements that are moved at once.
    pub(crate) pack: &'static str,
    /// Packs of each array that a thread fetches before it uses the first; more than one where nothing is written.
    pub(crate) packs_ahead: usize,
}

impl LoopArray {
    /// An array of numbers that is only read.
    pub(super) fn read(name: String, dtype: DType, access: OperandKind) -> Self {
        Self { name, element: storage_type(dtype), access, used: ElementUse::Read }
    }

    /// An array of numbers for the values of a leaf, whose addresses may be unaligned for its type.
    pub(super) fn result(name: String, dtype: DType, is_unaligned: bool) -> Self {
        let access = if is_unaligned { OperandKind::Unaligned } else { OperandKind::Element };
        Self { name, element: storage_type(dtype), access, used: ElementUse::Assigned }
    }

    fn is_read_only(&self) -> bool {
        self.used == ElementUse::Read
    }

    /// The element `offset` bytes after the beginning.
    fn element(&self, offset: &str) -> String {
        match self.is_read_only() {
            true => self.element_after(&self.name, offset),
            false => format!("*({} *)((char *){} + {offset})", self.element, self.name),
        }
    }

    /// The element, to be read, `offset` bytes after `base`.
    pub(super) fn element_after(&self, base: &str, offset: &str) -> String {
        let (ty, address) = (&self.element, format!("(const char *){base} + {offset}"));
        match self.access {
            OperandKind::Unaligned => format!("rt_gather_bytes<{ty}>({address})"),
            _ => format!("*(const {ty} *)({address})"),
        }
    }

    /// The statement that stores a value `offset` bytes after the beginning.
    fn store(&self, offset: &str, value: &str) -> String {
        match self.access {
            OperandKind::Unaligned => {
                format!("rt_scatter_bytes<{}>((char *){} + {offset}, {value});\n", self.element, self.name)
            }
            _ => format!("{} = {value};\n", self.element(offset)),
        }
    }
}

impl ElementLoops {
    /// The loops of arrays' own kernels.
    pub(super) fn of_numbers(results: Vec<LoopArray>, read: impl Iterator<Item = LoopArray>) -> Self {
        let n_results = results.len();
        let arrays = results.into_iter().chain(read).collect();
        Self { arrays, n_results, prefix: "", pack: "rt_pack", packs_ahead: 1 }
    }

    /// The declaration of the structure that strided and tiled loops read, which is the parameter `{prefix}dims`.
    pub(crate) fn dims_struct(&self, space: IndexSpace, name: &str) -> String {
        space.dims_struct(name, self.arrays.iter().filter(|array| array.access != OperandKind::Broadcast).count())
    }

    /// The parameters of the arrays.
    fn parameters(&self) -> Vec<String> {
        let declared = |array: &LoopArray| {
            let constness = if array.is_read_only() { "const " } else { "" };
            format!("{constness}{} *{}", array.element, array.name)
        };
        self.arrays.iter().map(declared).collect()
    }

    /// A kernel of arrays' own: `further` parameters come last.
    pub(super) fn kernel(&self, name: &str, pattern: AccessPattern, further: &[String], leaf: &Leaf<'_>) -> String {
        let mut text = String::new();
        let mut params = self.parameters();
        params.push("unsigned long long n".into());
        if let Some(space) = pattern.index_space() {
            text.push_str(&self.dims_struct(space, "array_dims"));
            params.push("const array_dims dims".into());
        }
        params.extend_from_slice(further);
        let (params, body) = (params.join(", "), self.body(pattern, leaf));
        let _ = write!(text, "extern \"C\" __global__ void {name}({params})\n{{\n{body}}}\n");
        text
    }

    /// The body of the kernel.
    pub(crate) fn body(&self, pattern: AccessPattern, leaf: &Leaf<'_>) -> String {
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
        let p = self.prefix;
        let mut text = format!(
            "  const unsigned long long {p}step = (unsigned long long)gridDim.x * blockDim.x;\n\
             \x20 const unsigned long long {p}first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
        );
        let mut done = "0ull".to_owned();
        if elements_per_access > 1 {
            text.push_str(&self.packed_loops(elements_per_access, leaf));
            done = format!("n / {elements_per_access} * {elements_per_access}");
        }
        let own = format!("[{p}i]");
        let computed = leaf(&format!("{p}i"), "    ", &|at| self.element_in_order(at, &own));
        let head = format!("  for (unsigned long long {p}i = {done} + {p}first; {p}i < n; {p}i += {p}step)");
        text + &self.loop_text(&head, "  ", computed, &own)
    }

    /// A loop, in one line where there is one statement; `own` is what follows a result's name where its element is.
    fn loop_text(&self, head: &str, indent: &str, (statements, values): LeafText, own: &str) -> String {
        let stores = self.arrays.iter().zip(values).map(|(array, value)| format!("{}{own} = {value};\n", array.name));
        if statements.is_empty() && self.n_results == 1 {
            return format!("{head} {}", stores.collect::<String>());
        }
        let stores: String = stores.map(|store| format!("{indent}  {store}")).collect();
        format!("{head} {{\n{statements}{stores}{indent}}}\n")
    }

    /// The loops over adjacent elements that are read and written at once.
    fn packed_loops(&self, elements_per_access: u8, leaf: &Leaf<'_>) -> String {
        let (p, ahead) = (self.prefix, self.packs_ahead);
        let pack = |array: &LoopArray| format!("{}<{}, {elements_per_access}>", self.pack, array.element);
        let moved = || self.arrays.iter().filter(|array| array.access != OperandKind::Broadcast);
        let elements = |place: &str, indent: &str| {
            let index = format!("{place} * {elements_per_access} + {p}k");
            let own = format!("p.at[{p}k]");
            let computed = leaf(&index, &format!("{indent}  "), &|at| self.element_in_order(at, &own));
            let head =
                format!("{indent}#pragma unroll\n{indent}for (int {p}k = 0; {p}k < {elements_per_access}; {p}k++)");
            self.loop_text(&head, indent, computed, &own)
        };
        let mut text = String::new();
        let mut start = format!("unsigned long long {p}p = {p}first");
        if ahead > 1 {
            let _ = write!(
                text,
                "  {start};\n\
                 \x20 for (; {p}p + {last} * {p}step < n / {elements_per_access}; {p}p += {ahead} * {p}step) {{\n",
                last = ahead - 1
            );
            start.clear();
            for array in moved() {
                let (name, pack) = (&array.name, pack(array));
                let _ = write!(
                    text,
                    "    {pack} {name}a[{ahead}];\n    #pragma unroll\n\
                     \x20   for (int {p}u = 0; {p}u < {ahead}; {p}u++)\n\
                     \x20     rtcg::load_no_allocate({name}a[{p}u], (const {pack} *){name} + ({p}p + {p}u * {p}step));\n"
                );
            }
            let _ = writeln!(text, "    #pragma unroll\n    for (int {p}u = 0; {p}u < {ahead}; {p}u++) {{");
            for array in moved() {
                let _ = writeln!(text, "      const {} &{name}p = {name}a[{p}u];", pack(array), name = array.name);
            }
            text.push_str(&elements(&format!("({p}p + {p}u * {p}step)"), "      "));
            text.push_str("    }\n  }\n");
        }
        let _ = writeln!(text, "  for ({start}; {p}p < n / {elements_per_access}; {p}p += {p}step) {{");
        for array in moved().filter(|array| array.used != ElementUse::Assigned) {
            let constness = if array.is_read_only() { "const " } else { "" };
            let (name, pack) = (&array.name, pack(array));
            let _ = writeln!(text, "    {constness}{pack} {name}p = ((const {pack} *){name})[{p}p];");
        }
        for array in moved().filter(|array| array.used == ElementUse::Assigned) {
            let _ = writeln!(text, "    {} {}p;", pack(array), array.name);
        }
        text.push_str(&elements(&format!("{p}p"), "    "));
        for array in moved().filter(|array| !array.is_read_only()) {
            let _ = writeln!(text, "    (({} *){name})[{p}p] = {name}p;", pack(array), name = array.name);
        }
        text + "  }\n"
    }

    fn strided_body(&self, space: IndexSpace, leaf: &Leaf<'_>) -> String {
        let (p, index) = (self.prefix, space.index_type());
        let mut text = format!(
            "  const {index} {p}step = gridDim.x * ({index})blockDim.x;\n\
             \x20 for ({index} {p}i = blockIdx.x * ({index})blockDim.x + threadIdx.x; {p}i < ({index})n; {p}i += {p}step) {{\n"
        );
        let (dims, i, offset) = (format!("{p}dims"), format!("{p}i"), format!("{p}at"));
        text.push_str(&space.offset_statements(&dims, &i, self.arrays.len(), &offset, "    "));
        let place = |at: usize| format!("{offset}{at}");
        let (statements, values) = leaf(&i, "    ", &|at| self.arrays[at].element(&place(at)));
        text.push_str(&statements);
        for (at, value) in values.iter().enumerate() {
            let _ = write!(text, "    {}", self.arrays[at].store(&place(at), value));
        }
        text + "  }\n"
    }

    fn tiled_body(&self, space: IndexSpace, tile: TransposeTile, leaf: &Leaf<'_>) -> String {
        let p = self.prefix;
        let arrays: Vec<_> = self.arrays.iter().map(|array| (&array.name[..], &array.element[..])).collect();
        tile.kernel_body(space, p, &arrays, |address| {
            let element = |at: usize| match tile.is_transposed(at) {
                true => format!("{}_tile[{p}e % {p}SIDE * ({p}SIDE + 1) + {p}e / {p}SIDE]", self.arrays[at].name),
                false => self.arrays[at].element(&address(at)),
            };
            let (statements, values) = leaf("0", "        ", &element);
            let store =
                |(at, value): (usize, &String)| format!("        {}", self.arrays[at].store(&address(at), value));
            statements + &values.iter().enumerate().map(store).collect::<String>()
        })
    }
}
