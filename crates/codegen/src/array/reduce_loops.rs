//! The loops of kernels that reduce some axes of arrays. How an element is accumulated is the leaf: an operation of
//! arrays, the steps of an expression, or a user's snippet.
//!
//! Parameters: the output, the arrays that are read, then `n_out`, `n_red` and `per_split` (`unsigned long long`), space
//! for the partial results of split runs, their completion counters, the structure of the kept axes, with strides of
//! output and arrays, and the structure of the reduced ones, with strides of the arrays. The second dimension of the
//! grid splits the runs (see `block_reduce.rs`).

use super::element_loops::LoopArray;
use super::element_offsets::IndexSpace;
use crate::block_reduce::{MAX_SERIAL_TERMS, REDUCE_THREADS};
use std::fmt::Write;

/// How the threads of a device share the work of a reduction over axes, and how they find elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReduceShape {
    /// Threads per block.
    pub threads: u16,
    /// Threads per output.
    pub threads_per_output: u16,
    /// Whether adjacent threads take adjacent elements of a run, rather than adjacent outputs.
    pub reduce_contiguous: bool,
    /// Whether runs are split over blocks.
    pub split: bool,
    /// [`WorkPartition::gather`](crate::block_reduce::WorkPartition::gather).
    pub gather: bool,
    /// Adjacent elements that a thread loads at once.
    pub pack: u8,
    /// Packs that a thread loads before it combines the first one.
    pub unroll: u8,
    /// Adjacent outputs per thread, whose elements are adjacent too and are loaded at once. More than one requires a
    /// single array, one thread per output, and runs that are not split.
    pub outputs_per_thread: u8,
    /// One bit per array, set if its runs have no gaps and begin at addresses aligned for packs.
    pub packed: u32,
    /// One bit per array, set if all outputs read the same run of it, so that it had better stay in caches.
    pub shared: u32,
    /// Whether a thread adds its partial sums by levels, so that rounding errors hardly grow with the length of a run.
    pub cascaded: bool,
    /// The kept axes.
    pub kept: IndexSpace,
    /// The reduced axes.
    pub reduced: IndexSpace,
}

impl ReduceShape {
    /// One block per output, without splits or packs.
    pub const PLAIN: ReduceShape = ReduceShape {
        threads: REDUCE_THREADS as u16,
        threads_per_output: REDUCE_THREADS as u16,
        reduce_contiguous: true,
        split: false,
        gather: false,
        pack: 1,
        unroll: 4,
        outputs_per_thread: 1,
        packed: 0,
        shared: 0,
        cascaded: false,
        kept: IndexSpace { ndim: 1, wide: false },
        reduced: IndexSpace { ndim: 1, wide: false },
    };

    /// Whether array `at` is read in packs.
    fn is_packed(&self, at: usize) -> bool {
        at < 32 && self.packed >> at & 1 == 1
    }

    /// Elements that the threads of an output take at once.
    fn elements_per_chunk(&self) -> usize {
        usize::from(self.threads_per_output) * usize::from(self.pack) * usize::from(self.unroll)
    }

    /// The blocks of a split run take chunks in turn, so that all of them read near each other; else each has a part of
    /// its own.
    fn interleaves_chunks(&self) -> bool {
        self.split && self.pack > 1
    }
}

/// Statements that accumulate the element at an index, with so many spaces before each, given the elements of arrays.
pub(crate) type ReduceLeaf<'a> = dyn Fn(&str, &str, &dyn Fn(usize) -> String) -> String + 'a;

/// The loops of a kernel. Before them there are a type `A`, `start()`, `combine(a, b)` and `finish(a, n)`.
pub(crate) struct ReduceLoops<'a> {
    /// How threads share the work.
    pub(crate) shape: &'a ReduceShape,
    /// What is read, each by a pointer `const char *`.
    pub(crate) arrays: Vec<LoopArray>,
    /// Whether the flat index of an element is an operand like the arrays, behind them.
    pub(crate) has_index: bool,
    /// The C type of the output.
    pub(crate) out: &'a str,
    /// What combines two values, as an object.
    pub(crate) combiner: &'a str,
    /// Stands before every name, which a user's text must not meet.
    pub(crate) prefix: &'a str,
    /// The template of adjacent elements that are read at once.
    pub(crate) pack: &'a str,
}

impl ReduceLoops<'_> {
    fn n_operands(&self) -> usize {
        self.arrays.len() + usize::from(self.has_index)
    }

    /// The structures of the axes.
    pub(crate) fn dims_structs(&self) -> String {
        let (p, ReduceShape { kept, reduced, .. }) = (self.prefix, self.shape);
        kept.dims_struct(&format!("{p}kept_dims"), 1 + self.n_operands())
            + &reduced.dims_struct(&format!("{p}reduced_dims"), self.n_operands())
    }

    /// The parameters, around those of the arrays that are read.
    pub(crate) fn parameters(&self, read: &str) -> String {
        let (p, out) = (self.prefix, self.out);
        format!(
            "{out} *{p}out, {read}unsigned long long {p}n_out, unsigned long long {p}n_red, \
             unsigned long long {p}per_split, {p}A *{p}partials, unsigned int *{p}counters, \
             const {p}kept_dims {p}kept, const {p}reduced_dims {p}reduced"
        )
    }

    /// The flat index of the element in C order, where it is an operand.
    pub(crate) fn index(&self) -> String {
        let (p, at) = (self.prefix, self.arrays.len());
        format!("{p}k{} + {p}r{at}", at + 1)
    }

    /// One element: its index in the run, and the pack it stands in if it was fetched before.
    fn accumulate(&self, leaf: &ReduceLeaf<'_>, index: &str, pack: Option<&str>, indent: &str) -> String {
        let (p, n) = (self.prefix, self.arrays.len());
        let in_pack = |at: usize| pack.filter(|_| self.shape.is_packed(at));
        let mut text = match !self.has_index && (0..n).all(|at| in_pack(at).is_some()) {
            true => String::new(),
            false => {
                let (dims, offset) = (format!("{p}reduced"), format!("{p}r"));
                self.shape.reduced.offset_statements(&dims, index, self.n_operands(), &offset, indent)
            }
        };
        let element = |at: usize| match in_pack(at) {
            Some(pack) => format!("{p}p{at}{pack}"),
            None => self.arrays[at].element_after(&format!("{p}row{at}"), &format!("{p}r{at}")),
        };
        text.push_str(&leaf(index, indent, &element));
        text
    }

    /// The elements of a run that belong to one thread, in an order that depends on threads per output and pack size.
    /// Whether a whole step lies inside of the run is decided for all threads of an output at once.
    fn accumulation_loop(&self, leaf: &ReduceLeaf<'_>) -> String {
        let (p, shape) = (self.prefix, self.shape);
        let (threads_per_output, pack, unroll) =
            (usize::from(shape.threads_per_output), usize::from(shape.pack), usize::from(shape.unroll));
        let stride = threads_per_output * pack;
        let all = shape.elements_per_chunk();
        let step = if shape.interleaves_chunks() { format!("gridDim.y * {all}ull") } else { all.to_string() };
        let steps = (MAX_SERIAL_TERMS / (pack * unroll)).max(1);
        let mut text = format!("    unsigned long long {p}base = {p}begin;\n");
        if shape.cascaded {
            let _ = write!(
                text,
                "    rtcg::cascade<{p}A> {p}sums({p}start());\n    while ({p}base + {all} <= {p}end) {{\n\
                 \x20   unsigned long long {p}stop = {p}base + {before} * ({step}) + {all};\n    if ({p}stop > {p}end) {p}stop = {p}end;\n",
                before = steps - 1
            );
        }
        let stop = if shape.cascaded { "stop" } else { "end" };
        text.push_str(&self.whole_steps(leaf, unroll, stop, &step));
        if shape.cascaded {
            let _ =
                writeln!(text, "    {p}sums.push({p}acc, {p}start(), {p}combine);\n    {p}acc = {p}start();\n    }}");
        }
        // What is left of a chunk, first in whole packs.
        if pack > 1 && unroll > 1 {
            text.push_str(&self.whole_steps(leaf, 1, "end", &stride.to_string()));
        }
        let _ = match pack {
            1 => writeln!(
                text,
                "    #pragma unroll 4\n    for (unsigned long long {p}i = {p}base + {p}lane; {p}i < {p}end; {p}i += {threads_per_output}) {{"
            ),
            _ => writeln!(
                text,
                "    for (unsigned long long {p}j = {p}base + {p}lane * {pack}; {p}j < {p}end; {p}j += {stride})\n\
                 \x20     for (unsigned long long {p}i = {p}j; {p}i < {p}j + {pack} && {p}i < {p}end; {p}i++) {{"
            ),
        };
        text.push_str(&self.accumulate(leaf, &format!("{p}i"), None, "        "));
        text.push_str("      }\n");
        if shape.cascaded {
            let _ = writeln!(text, "    {p}acc = {p}combine({p}sums.total({p}combine), {p}acc);");
        }
        text
    }

    /// The loop over steps that lie inside of the run as a whole: `unroll` packs of each thread.
    fn whole_steps(&self, leaf: &ReduceLeaf<'_>, unroll: usize, stop: &str, step: &str) -> String {
        let (p, shape) = (self.prefix, self.shape);
        let (threads_per_output, pack) = (usize::from(shape.threads_per_output), usize::from(shape.pack));
        let stride = threads_per_output * pack;
        let packed: Vec<_> = self.arrays.iter().enumerate().filter(|(at, _)| shape.is_packed(*at)).collect();
        let pack_type = |array: &LoopArray| format!("{}<{}, {pack}>", self.pack, array.element);
        let all = stride * unroll;
        let mut text = format!("    for (; {p}base + {all} <= {p}{stop}; {p}base += {step}) {{\n");
        for (at, array) in &packed {
            let _ = writeln!(text, "      {} {p}p{at}[{unroll}];", pack_type(array));
        }
        let _ = writeln!(text, "      #pragma unroll\n      for (int {p}u = 0; {p}u < {unroll}; {p}u++) {{");
        for (at, array) in &packed {
            let (pack_type, is_shared) = (pack_type(array), *at < 32 && shape.shared >> at & 1 == 1);
            let place = format!("{p}base / {pack} + {p}lane + {p}u * {threads_per_output}");
            let from = format!("(const {pack_type} *){p}row{at} + ({place})");
            let _ = match is_shared {
                true => writeln!(text, "        {p}p{at}[{p}u] = *({from});"),
                false => writeln!(text, "        rtcg::load_no_allocate({p}p{at}[{p}u], {from});"),
            };
        }
        let _ = write!(
            text,
            "      }}\n      #pragma unroll\n      for (int {p}u = 0; {p}u < {unroll}; {p}u++) {{\n        #pragma unroll\n\
             \x20       for (int {p}e = 0; {p}e < {pack}; {p}e++) {{\n\
             \x20         const unsigned long long {p}i = {p}base + {p}lane * {pack} + {p}u * {stride} + {p}e;\n{}        }}\n      }}\n    }}\n",
            self.accumulate(leaf, &format!("{p}i"), Some(&format!("[{p}u].at[{p}e]")), "          ")
        );
        text
    }

    /// The statements of the kernel.
    pub(crate) fn body(&self, leaf: &ReduceLeaf<'_>) -> String {
        let (p, shape, out) = (self.prefix, self.shape, self.out);
        let (begin, end) = match shape.interleaves_chunks() {
            true => (format!("blockIdx.y * {}ull", shape.elements_per_chunk()), format!("{p}n_red")),
            false => (
                format!("blockIdx.y * {p}per_split"),
                format!("{p}begin + {p}per_split < {p}n_red ? {p}begin + {p}per_split : {p}n_red"),
            ),
        };
        let (dims, o, offset) = (format!("{p}kept"), format!("{p}o"), format!("{p}k"));
        let offsets = |n_operands| shape.kept.offset_statements(&dims, &o, n_operands, &offset, "    ");
        let mut text = format!(
            "  const unsigned long long {p}begin = {begin};\n\
             \x20 const unsigned long long {p}end = {end};\n\
             \x20 auto {p}fold = [&](unsigned long long {p}o, unsigned int {p}lane, {p}A {p}acc) -> {p}A {{\n{}",
            offsets(1 + self.n_operands())
        );
        for (k, array) in self.arrays.iter().enumerate() {
            let _ = writeln!(text, "    const char *const {p}row{k} = {} + {p}k{};", array.name, k + 1);
        }
        let _ = write!(
            text,
            "{fold}    return {p}acc;\n  }};\n  auto {p}store = [&](unsigned long long {p}o, const {p}A &{p}acc) {{\n\
             {offsets}    *({out} *)((char *){p}out + {p}k0) = {p}finish({p}acc, {p}n_red);\n  }};\n\
             \x20 rtcg::reduce_outputs<{threads}, {threads_per_output}, {reduce_contiguous}, {split}, {gather}>({p}n_out, {p}start(), {p}partials, {p}counters, {p}fold, \
             {combiner}, {p}store);\n}}\n",
            fold = self.accumulation_loop(leaf),
            offsets = offsets(1),
            threads = shape.threads,
            threads_per_output = shape.threads_per_output,
            reduce_contiguous = shape.reduce_contiguous,
            split = shape.split,
            gather = shape.gather,
            combiner = self.combiner,
        );
        text
    }
}
